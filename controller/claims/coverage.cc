#include "controller/claims/coverage.h"

#include <algorithm>

#include "controller/toml/findings.h"

namespace benchctl {
namespace {

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// The parameter that keeps the suite from being the side's; empty when it is.
std::string other_param(const ClaimSide& side, const Suite& suite) {
  for (const auto& [name, value] : side.params) {
    auto given = suite.params.find(name);
    if (given == suite.params.end()) return name + " = " + value + " does not run";
    // "auto" becomes values on the machine.
    if (has(given->second, value) || has(given->second, "auto")) continue;
    return name + " = " + value + " does not run (" + listed(given->second) + " does)";
  }
  return "";
}

std::string why_no_side(const ClaimSide& side, const Plan& plan) {
  std::string why = side.workload + "." + side.mode + " does not run";
  for (const Suite& suite : plan.suites) {
    if (suite.workload != side.workload || suite.mode != side.mode) continue;
    if (!has(suite.arms, side.arm)) {
      why = "arm " + side.arm + " of " + side.workload + "." + side.mode + " does not run";
      continue;
    }
    std::string other = other_param(side, suite);
    if (other.empty()) return "";
    why = side.workload + "." + side.mode + " with " + other;
  }
  return why;
}

}  // namespace

std::string why_not_covered(const Claim& claim, const Plan& plan) {
  for (const auto* sides : {&claim.of, &claim.to})
    for (const ClaimSide& side : *sides)
      if (std::string why = why_no_side(side, plan); !why.empty()) return why;
  return "";
}

}  // namespace benchctl
