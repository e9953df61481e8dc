// From TOML to a Plan, with every mistake of the file named in one go.
#pragma once

#include <string>
#include <vector>

#include "controller/plan/plan.h"
#include "controller/plan/plan_source.h"
#include "controller/workloads/workload.h"
#include "lib/result.h"

namespace benchctl {

// `sets`: the PATH=VALUE words of --set. The error is kUsage; its message has one line a mistake:
// `plans/x.toml:12:7: unknown key "regoin" in [fleet.small]; did you mean "region"?`. Doubts are in Plan::warnings.
// Reads no file but to prove that those which the plan names lie below its root.
Result<Plan> read_plan(const PlanSource& source, const std::vector<Workload>& workloads,
                       const std::vector<std::string>& sets);

// What running this plan would run on this very computer with the user's own rights, one line each: builds, and own
// programs on provider local. Declared workloads are ours and need no trust.
std::vector<std::string> trust_needs(const Plan& plan);

// Good when nothing needs trust, or `trusted` (--trust-plan) is the plan's sha256. The error says what would run and
// how to allow it.
Status check_trust(const Plan& plan, const std::string& trusted);

}  // namespace benchctl
