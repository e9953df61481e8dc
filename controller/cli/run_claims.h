// Claims between the plan, the run's folder and the analysis.
#pragma once

#include <string>
#include <vector>

#include "controller/cli/context.h"
#include "controller/plan/plan.h"
#include "controller/store/rows.h"
#include "controller/workloads/workload.h"
#include "lib/json.h"

namespace benchctl {

struct PlanClaims {
  Json claims;                        // claim_json.h, of all files of the plan
  std::vector<std::string> warnings;  // claims that the plan cannot test
};

// Reads the files that [report] claims names, below the plan's root. All mistakes of a file at once (kUsage).
Result<PlanClaims> read_plan_claims(const Plan& plan, const std::vector<Workload>& workloads);
// What a run is held against: what its plan named when it began, and whether it fails by them (--require-claims).
struct RunClaims {
  Json claims = Json::array();
  bool required = false;
};

// claims.json in the run's folder. Writes nothing where there are no claims.
Status save_claims(const std::string& run_folder, const RunClaims& claims);
// Those of the run, or none when it was begun without.
Result<RunClaims> saved_claims(const std::string& run_folder);

// The analysis' verdicts, for --require-claims: unmet when a claim is not reproduced on some machine, and when none
// could be tested at all; the words say which. Inconclusive ones do not fail: they say how many rounds would tell.
std::string unmet_claims(const Json& verdicts);

}  // namespace benchctl
