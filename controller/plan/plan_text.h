// What `plan check`, `plan show` and `plan init` print, and the plan as it is kept with a run.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "controller/plan/plan.h"
#include "controller/plan/plan_source.h"
#include "controller/workloads/workload.h"
#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

// One line that says good and how much it is, then the warnings. Errors: `out` cannot be written.
Status check_plan(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host, bool json,
                  std::ostream& out);
// {"file", "good", "errors", "warnings", "sha256"}; also of a plan that was refused: its error's lines.
Json plan_check_json(const std::string& file, const Result<Plan>& plan);

// The resolved plan for people: machines, rounds, suites with arms and parameters, trials, expected time, cost.
Status show_plan(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host, bool json,
                 std::ostream& out);
Json plan_show_json(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host);

// A commented plan to start from; it passes `plan check`.
std::string plan_template();

// The plan with every default and override written out: reading it again gives the same plan (but file, root, sha256).
std::string resolved_toml(const Plan& plan);

}  // namespace benchctl
