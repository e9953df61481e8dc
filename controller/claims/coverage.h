// Which claims a plan can test, before anything runs.
#pragma once

#include <string>

#include "controller/claims/claim.h"
#include "controller/plan/plan.h"

namespace benchctl {

// Why the plan makes no rows for the claim: "api_costs.in_list does not run", "items = 2000000 does not run (100000
// does)"; empty when it does, as far as can be known before a machine is, or when the claim itself is not tested.
std::string why_not_covered(const Claim& claim, const Plan& plan);

}  // namespace benchctl
