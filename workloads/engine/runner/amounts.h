/* How much work a benchmark is: a row of sizes.toml. The build makes amounts_generated.h of that file. */
#ifndef AMOUNTS_H
#define AMOUNTS_H

struct amounts {
  const char* size;
  int speedtest1_size;
  int kvtest_blobs, kvtest_bytes, kvtest_reads, kvtest_single_reads, kvtest_single_updates;
  int tatp_subscribers, tatp_transactions;
  int ssb_milli_scale, ssb_rounds;
};

#endif
