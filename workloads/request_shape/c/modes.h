/* What the program can do, one function each. They print on standard output. */
#ifndef MODES_H
#define MODES_H

#include <stdint.h>
#include <time.h>

#include "options.h"

#define CASE_PREFIX RUNNER "/app_request/"

void run_sequential(const struct options* options);
void run_concurrent(const struct options* options);
void print_trace(const struct options* options);
void print_info(void);
void merge_histograms(void);

static inline int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#endif
