/* What a run of concurrent mode prints: its row, and its histograms as files. */
#include "point.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "modes.h"

/* Into the folder BENCHCTL_OUT, where there is one. */
static void write_histogram_file(const char* load, const char* suffix, const struct histogram* histogram) {
  const char* folder = getenv("BENCHCTL_OUT");
  if (!folder || !*folder || histogram->total == 0) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/" RUNNER "_app_request_%s%s.hist.csv", folder, load, suffix);
  FILE* file = fopen(path, "wx");
  if (file) histogram_write(histogram, file);
  if (!file || ferror(file) || fclose(file) != 0) {
    fprintf(stderr, RUNNER ": %s: %s\n", path, strerror(errno));
    exit(1);
  }
}

static double us(int64_t ns) {
  return (double)ns / 1e3;
}

void print_point(const struct options* options, const struct histogram* latencies, const struct histogram* busy_waits) {
  const char* load = load_names[options->load];
  write_histogram_file(load, "", latencies);
  write_histogram_file(load, ".errors", busy_waits);
  double seconds = (double)options->duration_ns / 1e9;
  printf("case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors\n");
  printf(CASE_PREFIX "%s,%d,%.3f,%lld,%.3f,%.3f,%.3f,%.3f,%.3f,%lld\n", load, options->workers, seconds,
         (long long)latencies->total, (double)latencies->total / seconds, us(histogram_percentile_ns(latencies, 50)),
         us(histogram_percentile_ns(latencies, 95)), us(histogram_percentile_ns(latencies, 99)), us(latencies->max_ns),
         (long long)busy_waits->total);
}

static void refuse_line(long long number) {
  fprintf(stderr, RUNNER ": --histogram: line %lld of standard input is not a whole number of nanoseconds\n", number);
  exit(1);
}

void merge_histograms(void) {
  static struct histogram merged, worker;
  char line[64];
  for (long long number = 1; fgets(line, sizeof line, stdin); number++) {
    size_t length = strcspn(line, "\n");
    if (length == 0) {
      histogram_add(&merged, &worker);
      worker = (struct histogram){0};
      continue;
    }
    if (length > 18 || strspn(line, "0123456789") != length) refuse_line(number);
    histogram_record(&worker, strtoll(line, NULL, 10));
  }
  histogram_add(&merged, &worker);
  puts("p50_us,p95_us,p99_us,max_us");
  printf("%.3f,%.3f,%.3f,%.3f\n", us(histogram_percentile_ns(&merged, 50)), us(histogram_percentile_ns(&merged, 95)),
         us(histogram_percentile_ns(&merged, 99)), us(merged.max_ns));
  histogram_write(&merged, stdout);
}
