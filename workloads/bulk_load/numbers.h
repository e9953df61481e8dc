/* A growing list of whole numbers, for percentiles. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

struct numbers {
  int64_t* all;
  int64_t count, room;
};

void add_number(struct numbers* numbers, int64_t number);
/* Nearest rank; sorts. 0 of none; 100 gives the largest. */
int64_t percentile(struct numbers* numbers, int percent);
void free_numbers(struct numbers* numbers);

#endif
