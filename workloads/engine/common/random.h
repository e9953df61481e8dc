/* The random numbers of tatp and ssb. Draw one at a time: C leaves open in which order the parts of an expression, or
 * the arguments of a call, are computed, and two compilers would make two databases. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

struct random {
  uint64_t state;
};

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
static inline uint64_t random_next(struct random* random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* A whole number from `low` to `high`, both included. The remainder's bias is below 2^-40 for the ranges used here. */
static inline int64_t random_between(struct random* random, int64_t low, int64_t high) {
  return low + (int64_t)(random_next(random) % (uint64_t)(high - low + 1));
}

/* `length` letters of `alphabet`, which has `size`, and the closing zero. */
static inline void random_text(struct random* random, char* text, int length, const char* alphabet, int size) {
  for (int i = 0; i < length; i++) text[i] = alphabet[random_between(random, 0, size - 1)];
  text[length] = 0;
}

#endif
