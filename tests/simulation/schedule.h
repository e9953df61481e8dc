// One schedule: a run from its beginning to the proof that nothing is left, through whatever its seed brings.
#pragma once

#include <cstdint>
#include <string>

#include "tests/simulation/dice.h"

namespace benchctl::simulation {

struct ScheduleResult {
  std::string broken;  // which invariant, and how; empty: all hold
  Counts counts;       // faults by kind, and how controllers ended
};

// `folder`: private and empty; it is left as it is.
// What is broken on purpose, to see the invariants catch it: "" nothing; "resume" later controllers begin anew; "state"
// the provider calls a machine gone once destroy was accepted; "budget" the plan's cap is not handed on; "value" a
// machine prints another number than it measured; "exit" failures are not told; "build" a machine
// loses what it says that it has built.
ScheduleResult run_schedule(uint64_t seed, const std::string& folder, const std::string& mutant, bool verbose);

}  // namespace benchctl::simulation
