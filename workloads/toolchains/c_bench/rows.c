#include "rows.h"

#include <stdio.h>

#include "bench.h"

const char* const measure_names[] = {"time", "counts", NULL};

void start_work(struct work* work) {
  work->started_calls = calls;
  work->started_cpu_ns = process_cpu_ns();
  work->started_wall_ns = now_ns();
}

void stop_work(struct work* work) {
  work->wall_ns += now_ns() - work->started_wall_ns;
  work->cpu_ns += process_cpu_ns() - work->started_cpu_ns;
  for (int i = 0; i < CALL_KINDS; i++) work->calls.made[i] += calls.made[i] - work->started_calls.made[i];
}

void print_header(void) {
  puts("case,metric,unit,value,better,check");
}

void print_value(const char* name, const char* metric, const char* unit, double value, int decimals, const char* better,
                 const uint64_t* check) {
  char digest[24] = "";
  if (check) snprintf(digest, sizeof digest, "%016llx", (unsigned long long)*check);
  printf("%s,%s,%s,%.*f,%s,%s\n", name, metric, unit, decimals, value, better, digest);
}

void print_work(const char* name, const struct work* work, int64_t operations, enum measure measure, uint64_t check) {
  if (measure == MEASURE_COUNTS) {
    for (int i = 0; i < CALL_KINDS; i++)
      print_value(name, call_names[i], "count", (double)work->calls.made[i], 0, "lower", &check);
    return;
  }
  print_value(name, "time", "ns", (double)work->wall_ns / (double)operations, 3, "lower", &check);
  print_value(name, "cpu", "ns", (double)work->cpu_ns / (double)operations, 3, "lower", &check);
}
