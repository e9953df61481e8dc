#include "reduce.h"

#include <string.h>

#include "bench.h"

typedef int64_t vector __attribute__((vector_size(32)));
typedef uint64_t unsigned_vector __attribute__((vector_size(32)));
enum { LANES = 4 };

/* Not by value: how such a vector is returned depends on the instruction set. */
static inline void load(unsigned_vector* loaded, const int64_t* values) {
  memcpy(loaded, values, sizeof *loaded);
}

/* The plain loop stays plain: at -O2 newer compilers would make vectors of it. */
#define PLAIN __attribute__((noinline, optimize("no-tree-vectorize")))

PLAIN struct reduction reduce_scalar(const int64_t* values, int64_t count) {
  struct reduction all = {0, INT64_MAX, INT64_MIN};
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += (uint64_t)values[i];
    all.min = values[i] < all.min ? values[i] : all.min;
    all.max = values[i] > all.max ? values[i] : all.max;
  }
  all.sum = (int64_t)sum;
  return all;
}

PLAIN int64_t sum_scalar(const int64_t* values, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; i++) sum += (uint64_t)values[i];
  return (int64_t)sum;
}

__attribute__((noinline)) struct reduction reduce_vector(const int64_t* values, int64_t count) {
  unsigned_vector sums = {0};
  vector mins = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, maxs = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    unsigned_vector loaded;
    load(&loaded, values + i);
    vector four = (vector)loaded;
    vector less = four < mins;
    vector more = four > maxs;
    sums += loaded;
    mins = (four & less) | (mins & ~less);
    maxs = (four & more) | (maxs & ~more);
  }
  struct reduction all = reduce_scalar(values + i, count - i);
  uint64_t sum = (uint64_t)all.sum;
  for (int lane = 0; lane < LANES; lane++) {
    sum += sums[lane];
    all.min = mins[lane] < all.min ? mins[lane] : all.min;
    all.max = maxs[lane] > all.max ? maxs[lane] : all.max;
  }
  all.sum = (int64_t)sum;
  return all;
}

__attribute__((noinline)) int64_t sum_vector(const int64_t* values, int64_t count) {
  unsigned_vector sums = {0};
  int64_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    unsigned_vector loaded;
    load(&loaded, values + i);
    sums += loaded;
  }
  uint64_t sum = (uint64_t)sum_scalar(values + i, count - i);
  for (int lane = 0; lane < LANES; lane++) sum += sums[lane];
  return (int64_t)sum;
}

void check_reductions(void) {
  enum { LONGEST = 80 };
  int64_t values[LONGEST];
  struct random random = {.state = 80};
  for (int i = 0; i < LONGEST; i++) values[i] = (int64_t)random_next(&random);
  values[40] = INT64_MIN;
  values[61] = INT64_MAX;
  for (int64_t count = 0; count <= LONGEST; count++) {
    struct reduction plain = reduce_scalar(values, count), vectors = reduce_vector(values, count);
    if (plain.sum != vectors.sum || plain.min != vectors.min || plain.max != vectors.max ||
        plain.sum != sum_scalar(values, count) || plain.sum != sum_vector(values, count))
      fail("the vector reduction differs from the scalar one at length %lld", (long long)count);
  }
}
