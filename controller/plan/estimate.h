// How much a plan asks for, before anything runs.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/plan/machine_shape.h"
#include "controller/plan/plan.h"
#include "controller/workloads/workload.h"

namespace benchctl {

struct Estimate {
  int machines = 0;
  int rounds = 0;           // with warm-ups
  int64_t points = 0;       // of the fleet with the most
  int64_t trials = 0;       // of all machines
  int64_t most_trials = 0;  // of the machine with the most
  double longest_trial_seconds = 0;
  double seconds = 0;        // of the whole run, machines of this computer one after another
  bool has_command = false;  // a program of the user's own counts as kCommandSeconds a trial
};

inline constexpr double kCommandSeconds = 1;

Estimate estimate(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host);
// The CPUs that a fleet's machines will have, as far as the plan says; else the host's.
int cpus_of(const Fleet& fleet, const MachineShape& host);
// One trial at these parameters, scaled from the workload's declared seconds at its defaults.
double trial_seconds(const ModeDecl& mode, const std::map<std::string, std::string>& params);

}  // namespace benchctl
