#include "tests/simulation/dice.h"

#include <cstdio>
#include <utility>

namespace benchctl::simulation {
namespace {

// Fault, and its chance in a thousand at each opportunity where the schedule has it at all.
constexpr std::pair<const char*, int> kFaults[] = {
    // The controller
    {"controller killed", 25},
    {"wish to stop", 8},
    // The network
    {"link cut before a command", 30},
    {"link cut after a command", 30},
    {"link cut inside an answer", 60},
    {"command hangs", 15},
    {"connecting fails", 60},
    // The machine
    {"machine reboots", 10},
    {"machine dies", 4},
    {"wrong host key", 40},
    {"requirements not met", 400},
    {"cannot be made quiet", 400},
    {"compiler missing", 300},
    {"recipe fails", 200},
    {"timer comes back", 200},
    // The agent
    {"agent killed", 20},
    {"agent falls silent", 6},
    {"agent does not stop", 300},
    {"trial fails", 100},
    {"steal", 100},
    {"disk full", 8},
    {"event torn", 10},
    {"event of a stranger", 10},
    {"manifest lies", 20},
    {"output torn", 60},
    // The provider
    {"create fails before", 200},
    {"create fails after", 200},
    {"state fails", 100},
    {"destroy fails", 150},
    {"destroy ignored", 150},
    {"list fails", 100},
    {"list lags", 500},
    {"no address", 30},
};

}  // namespace

uint64_t Dice::next() {
  uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

int64_t Dice::below(int64_t bound) {
  return static_cast<int64_t>(next() % static_cast<uint64_t>(bound));
}

int Weather::of(const std::string& fault) const {
  auto found = per_mille.find(fault);
  return found == per_mille.end() ? 0 : found->second;
}

Faults::Faults(uint64_t seed, bool verbose) : dice_(seed), verbose_(verbose) {
  // One schedule in sixteen has fair weather; the others have one to four kinds of faults, often the controller's end.
  int kinds = static_cast<int>(dice_.below(16)) == 0 ? 0 : 1 + static_cast<int>(dice_.below(4));
  for (int i = 0; i < kinds; ++i) {
    const auto& [name, chance] = kFaults[dice_.below(std::size(kFaults))];
    weather_.per_mille[name] = chance;
  }
  if (kinds > 0 && dice_.below(2) == 0) weather_.per_mille["controller killed"] = 25;
  for (const auto& [name, chance] : weather_.per_mille) tell("weather: " + name);
}

bool Faults::happens(const std::string& fault) {
  if (calm_ || !dice_.chance(weather_.of(fault))) return false;
  ++counts_[fault];
  tell("FAULT " + fault);
  return true;
}

void Faults::tell(const std::string& words) const {
  if (verbose_) std::printf("  %s\n", words.c_str());
}

}  // namespace benchctl::simulation
