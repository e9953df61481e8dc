#include "controller/cli/arm_needs.h"

#include <algorithm>
#include <set>

#include "controller/plan/declarations.h"
#include "controller/plan/expand.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// One arm that is not built, in all suites where that has the same consequence.
struct Gap {
  std::string arm, why;
  bool fatal = false;
  bool baseline = false;
  bool broken = false;  // a build failed
  std::vector<std::string> suites;
};

// Why the arm has no bundle; empty when it has one.
std::string reason_of(const ArmNeed& need, const std::map<std::string, Error>& unbuilt, bool& broken) {
  std::vector<std::string> reasons;
  for (const ArmNeed::Candidate& one : need.candidates) {
    if (one.key.empty()) {
      reasons.push_back(need.workload->name + "/" + one.build->name + " cannot be built for " + need.arch);
      continue;
    }
    auto why = unbuilt.find(one.key);
    if (why == unbuilt.end()) return "";
    broken = broken || why->second.kind == ErrorKind::kWorkload;
    reasons.push_back(why->second.message);
  }
  return join(reasons, "; ");
}

std::string text_of(const Gap& gap) {
  return "arm " + gap.arm + " (" + join(gap.suites, ", ") + ") is not built: " + gap.why;
}

}  // namespace

std::vector<ArmNeed> arm_needs(const Plan& plan, const std::vector<Workload>& workloads) {
  std::set<std::string> archs;
  for (const auto& [name, fleet] : plan.fleets) archs.insert(fleet.spec.arch);
  std::vector<ArmNeed> needs;
  for (const Suite& suite : plan.suites) {
    const Workload* workload = find_named(workloads, suite.workload);
    if (workload == nullptr) continue;  // a program of the user's own
    for (const std::string& arch : archs) {
      for (const std::string& name : suite.arms) {
        const ArmDecl* arm = workload->arm(name);
        if (arm == nullptr) continue;  // the plan's reader has refused it
        ArmNeed need{&suite, workload, name, arch, {}};
        for (const std::string& build : arm->all_builds()) {
          ArmNeed::Candidate one{bundle_key(*workload, build, suite, arch).value_or(""),
                                 workload->build(build),
                                 {arch, ""},
                                 suite.on_machine};
          if (!suite.on_machine) one.target = one.build->target(arch, suite.isa).value_or(one.target);
          need.candidates.push_back(std::move(one));
        }
        needs.push_back(std::move(need));
      }
    }
  }
  return needs;
}

std::vector<ArmNeed::Recipe> recipes_of(const std::vector<ArmNeed>& needs) {
  std::vector<ArmNeed::Recipe> recipes;
  std::set<std::string> seen;
  for (const ArmNeed& need : needs)
    for (const ArmNeed::Candidate& one : need.candidates)
      if (!one.key.empty() && seen.insert(one.key).second) recipes.push_back({*need.workload, one});
  return recipes;
}

ArmVerdict judge_arms(const std::vector<ArmNeed>& needs, const std::map<std::string, Error>& unbuilt) {
  std::vector<Gap> gaps;
  for (const ArmNeed& need : needs) {
    Gap gap;
    gap.arm = need.arm;
    gap.baseline = need.arm == need.suite->baseline;
    gap.fatal = gap.baseline || !need.suite->skip_unbuilt;
    gap.why = reason_of(need, unbuilt, gap.broken);
    if (gap.why.empty()) continue;
    auto same = std::find_if(gaps.begin(), gaps.end(), [&](const Gap& one) {
      return one.arm == gap.arm && one.why == gap.why && one.fatal == gap.fatal;
    });
    if (same == gaps.end()) same = gaps.insert(gaps.end(), gap);
    same->baseline = same->baseline || gap.baseline;
    auto& suites = same->suites;
    if (std::find(suites.begin(), suites.end(), need.suite->name) == suites.end()) suites.push_back(need.suite->name);
  }
  ArmVerdict verdict;
  std::vector<std::string> errors;
  bool broken = false;
  for (const Gap& gap : gaps) {
    if (!gap.fatal) {
      verdict.notes.push_back(text_of(gap));
      continue;
    }
    broken = broken || gap.broken;
    errors.push_back(text_of(gap) + (gap.baseline ? "; it is the baseline, without which nothing is compared"
                                                  : "; to go on without it: --skip-unbuilt, or skip_unbuilt = true in "
                                                    "its [[suite]]"));
  }
  if (!errors.empty()) verdict.status = Error{broken ? ErrorKind::kWorkload : ErrorKind::kUsage, join(errors, "\n")};
  return verdict;
}

}  // namespace benchctl
