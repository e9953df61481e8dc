/* System calls that this process has made, counted where they leave SQLite: the linker sends them through calls.c
   (C_BENCH_LINK). Exact and without any right, at the price of one addition a call. Programs of one thread only. */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>

enum call { CALL_FSYNC, CALL_FDATASYNC, CALL_PREAD, CALL_PWRITE, CALL_UNLINK, CALL_FCNTL, CALL_KINDS };
extern const char* const call_names[CALL_KINDS];

struct calls {
  uint64_t made[CALL_KINDS];
};
/* Since the start of the process. */
extern struct calls calls;

#endif
