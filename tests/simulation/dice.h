// Chance from a seed, and what it did: every fault is counted by its name, so that a run of the simulation says what it
// tried and a schedule can be played again.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace benchctl::simulation {

using Counts = std::map<std::string, int64_t>;

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t next();               // splitmix64
  int64_t below(int64_t bound);  // 0 .. bound - 1
  bool chance(int per_mille) { return per_mille > 0 && below(1000) < per_mille; }

 private:
  uint64_t state_;
};

// What can go wrong in a schedule, each with its chance in a thousand; drawn once from the seed, most of them zero.
struct Weather {
  std::map<std::string, int> per_mille;
  int of(const std::string& fault) const;
};

class Faults {
 public:
  Faults(uint64_t seed, bool verbose);
  // Does it happen now? Counted when it does. `weather` is the schedule's.
  bool happens(const std::string& fault);
  bool calm() const { return calm_; }  // no more faults: the time after the storm
  void be_calm() { calm_ = true; }
  bool possible(const std::string& fault) const { return weather_.of(fault) > 0; }
  Dice& dice() { return dice_; }
  const Counts& counts() const { return counts_; }
  void count(const std::string& what) { ++counts_[what]; }
  bool verbose() const { return verbose_; }
  void tell(const std::string& words) const;

 private:
  Dice dice_;
  Weather weather_;
  Counts counts_;
  bool verbose_;
  bool calm_ = false;
};

}  // namespace benchctl::simulation
