#include "numbers.h"

#include <stdlib.h>

#include "bench.h"

void add_number(struct numbers* numbers, int64_t number) {
  if (numbers->count == numbers->room) {
    numbers->room = numbers->room ? 2 * numbers->room : 1024;
    numbers->all = realloc(numbers->all, (size_t)numbers->room * sizeof *numbers->all);
    if (!numbers->all) fail("out of memory for %lld numbers", (long long)numbers->room);
  }
  numbers->all[numbers->count++] = number;
}

static int compare(const void* left, const void* right) {
  int64_t a = *(const int64_t*)left, b = *(const int64_t*)right;
  return (a > b) - (a < b);
}

int64_t percentile(struct numbers* numbers, int percent) {
  if (numbers->count == 0) return 0;
  qsort(numbers->all, (size_t)numbers->count, sizeof *numbers->all, compare);
  int64_t rank = (numbers->count * percent + 99) / 100;
  return numbers->all[rank < 1 ? 0 : rank - 1];
}

void free_numbers(struct numbers* numbers) {
  free(numbers->all);
  *numbers = (struct numbers){0};
}
