/* Latencies in buckets at most 1/256 (0.4 %) wide: below 512 ns each nanosecond has its own, above that every power of
 * two is cut into 256. The bounds are the same in every runner, so that histograms of repeated runs are added, never
 * averaged. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#define HISTOGRAM_BUCKETS (256 * 33) /* up to 2^40 ns, 18 minutes; what is longer counts in the last one */

struct histogram {
  int64_t total, max_ns;
  int64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_record(struct histogram* histogram, int64_t ns);
void histogram_add(struct histogram* into, const struct histogram* other);
/* The upper bound of the bucket that holds the nearest-rank percentile, at most the maximum; 0 of an empty histogram.
 */
int64_t histogram_percentile_ns(const struct histogram* histogram, int percent);
/* CSV `bucket_us,count`: the upper bounds (the largest value inside) of the buckets that are not empty, ascending. */
void histogram_write(const struct histogram* histogram, FILE* out);

#endif
