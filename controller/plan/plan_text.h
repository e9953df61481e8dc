// What `plan check`, `plan show` and `plan init` print, and the plan as it is kept with a run.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "controller/plan/plan.h"
#include "controller/plan/plan_source.h"
#include "controller/workloads/workload.h"
#include "lib/json.h"

namespace benchctl {

// One line that says good and how much it is, then the warnings.
void print_plan_check(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host,
                      std::ostream& out);
// {"file", "good", "warnings": […], "errors": […], "sha256"}; of a plan that was refused: its error's lines.
Json plan_check_json(const std::string& file, const Result<Plan>& plan);

// The resolved plan for people: machines, rounds, suites with arms and points, trials, expected time, cost.
void print_plan_show(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host,
                     std::ostream& out);
Json plan_show_json(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host);

// A commented plan to start from; it passes `plan check`.
std::string plan_template();

// The plan with every default and override written out: reading it again gives the same plan (but file, root, sha256).
std::string resolved_toml(const Plan& plan, const std::vector<Workload>& workloads);

}  // namespace benchctl
