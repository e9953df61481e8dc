#include "disk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "numbers.h"
#include "rows.h"

enum { PAGE = 4096, FILE_PAGES = 4096, PIECE = 8 << 20, MOST_SYNCS = 1000000 };
static const char probe_file[] = "bulk_load.probe";

static void write_all(int file, const char* bytes, size_t size, off_t at) {
  if (pwrite(file, bytes, size, at) != (ssize_t)size || fdatasync(file) != 0)
    fail("%s: cannot be written and synced", probe_file);
}

/* Pages at random places of a file that exists, each synced. */
static void probe_syncs(int file, const char* bytes, int64_t ms) {
  struct numbers took = {0};
  struct random random = {.state = 3};
  int64_t begin = now_ns(), now = begin;
  do {
    int64_t start = now;
    write_all(file, bytes, PAGE, random_between(&random, 0, FILE_PAGES - 1) * PAGE);
    now = now_ns();
    add_number(&took, now - start);
  } while (now - begin < ms * 1000000 && took.count < MOST_SYNCS);
  print_value("disk", "iops", "1/s", (double)took.count * 1e9 / (double)(now - begin), 1, "higher", NULL);
  print_value("disk", "sync_p50", "us", (double)percentile(&took, 50) / 1e3, 3, "lower", NULL);
  free_numbers(&took);
}

/* The file from its beginning, again and again, each piece synced. */
static void probe_sequential(int file, const char* bytes, int64_t ms) {
  int64_t begin = now_ns(), now = begin, written = 0;
  do {
    write_all(file, bytes, PIECE, written % ((int64_t)FILE_PAGES * PAGE));
    written += PIECE;
    now = now_ns();
  } while (now - begin < ms * 1000000);
  print_value("disk", "sequential", "MB/s", (double)written * 1e3 / (double)(now - begin), 1, "higher", NULL);
}

void probe_disk(int64_t ms) {
  int file = open(probe_file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) fail("%s: cannot be made", probe_file);
  char* bytes = allocate(PIECE, 1);
  memset(bytes, 0x5a, PIECE);
  for (int64_t at = 0; at < (int64_t)FILE_PAGES * PAGE; at += PIECE) write_all(file, bytes, PIECE, at);
  probe_syncs(file, bytes, ms);
  probe_sequential(file, bytes, ms);
  free(bytes);
  close(file);
  unlink(probe_file);
}
