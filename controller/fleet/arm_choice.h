// Which arms of the plan a machine runs, and each from which recipe's bundle: decided by the machine's facts before
// anything is shipped to it. Nothing is left out in silence.
#pragma once

#include <string>
#include <vector>

#include "controller/fleet/run_context.h"
#include "lib/wire/facts.h"

namespace benchctl {

struct ArmChoice {
  Plan plan;                         // with the arms that this machine runs
  std::vector<Workload> workloads;   // with the recipe that each arm runs from
  std::vector<LeftOutRow> left_out;  // and why
};

// kRejected when a suite is left without its baseline or without any arm: such a machine cannot say what was asked.
Result<ArmChoice> choose_arms(const RunInput& input, const Facts& facts);

}  // namespace benchctl
