/* Sum, smallest and largest of integers, one at a time and in vectors of four. */
#ifndef REDUCE_H
#define REDUCE_H

#include <stdint.h>

struct reduction {
  int64_t sum, min, max; /* of nothing: 0, INT64_MAX, INT64_MIN; the sum wraps */
};

struct reduction reduce_scalar(const int64_t* values, int64_t count);
struct reduction reduce_vector(const int64_t* values, int64_t count);
int64_t sum_scalar(const int64_t* values, int64_t count);
int64_t sum_vector(const int64_t* values, int64_t count);
/* fail() unless both agree at every length from 0 to 80, on values that include the extremes. */
void check_reductions(void);

#endif
