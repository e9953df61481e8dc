// The order of a round as a pure function of (seed, machine, round): the same numbers on every platform and library,
// which std::shuffle and std::uniform_int_distribution do not promise. Any round can be asked for by itself, so rounds
// appended later fit in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace benchctl {

// Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014); constants of Vigna's splitmix64.c.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t bound);  // uniform in [0, bound), without modulo bias; bound > 0

 private:
  uint64_t state_;
};

// 0..count-1 in random order, each equally likely (Fisher-Yates).
std::vector<size_t> shuffled(size_t count, SplitMix64 random);

struct OrderKey {
  std::string order;  // latin | abba | fixed
  uint64_t seed = 0;
  int machine = 0;
};

// The points of a round, shuffled; as in the plan when `fixed`.
std::vector<size_t> point_order(const OrderKey& key, int round, size_t points);

// The arms of one point in one round (rounds may be 0 and below: warm-ups).
// latin: rounds 1..k, k+1..2k, … are cyclic k x k Latin squares, each begun with a fresh random row: over such a cycle
//        every arm stands at every position exactly once.
// abba:  rounds 1 and 2, 3 and 4, … are a random order and its reverse: a linear drift cancels within the pair.
// fixed: as in the plan.
std::vector<size_t> arm_order(const OrderKey& key, int round, size_t point, size_t arms);

}  // namespace benchctl
