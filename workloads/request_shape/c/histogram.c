#include "histogram.h"

static int bucket_of(int64_t ns) {
  int shift = 0;
  if (ns >= 512) shift = 64 - 9 - __builtin_clzll((unsigned long long)ns);
  int bucket = shift * 256 + (int)(ns >> shift);
  return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

static int64_t upper_bound_ns(int bucket) {
  int shift = bucket < 512 ? 0 : bucket / 256 - 1;
  return ((int64_t)(bucket - shift * 256 + 1) << shift) - 1;
}

void histogram_record(struct histogram* histogram, int64_t ns) {
  histogram->counts[bucket_of(ns)]++;
  histogram->total++;
  if (ns > histogram->max_ns) histogram->max_ns = ns;
}

void histogram_add(struct histogram* into, const struct histogram* other) {
  for (int i = 0; i < HISTOGRAM_BUCKETS; i++) into->counts[i] += other->counts[i];
  into->total += other->total;
  if (other->max_ns > into->max_ns) into->max_ns = other->max_ns;
}

int64_t histogram_percentile_ns(const struct histogram* histogram, int percent) {
  int64_t rank = (histogram->total * percent + 99) / 100, seen = 0;
  for (int i = 0; rank > 0 && i < HISTOGRAM_BUCKETS; i++) {
    seen += histogram->counts[i];
    if (seen >= rank) return upper_bound_ns(i) < histogram->max_ns ? upper_bound_ns(i) : histogram->max_ns;
  }
  return 0;
}

void histogram_write(const struct histogram* histogram, FILE* out) {
  fputs("bucket_us,count\n", out);
  for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
    int64_t ns = upper_bound_ns(i);
    if (histogram->counts[i])
      fprintf(out, "%lld.%03d,%lld\n", (long long)(ns / 1000), (int)(ns % 1000), (long long)histogram->counts[i]);
  }
}
