// Which bundles the arms of a plan need, and what it means when one cannot be had.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/plan/plan.h"
#include "controller/workloads/workload.h"
#include "lib/result.h"

namespace benchctl {

// An arm of a suite on machines of one architecture.
struct ArmNeed {
  struct Candidate {
    std::string key;  // BundleNeed::key; empty: the recipe cannot be built for that architecture
    const BuildDecl* build = nullptr;
    BuildTarget target;       // of a suite that is built on the machine: its architecture alone
    bool on_machine = false;  // its sources are what is shipped
  };
  struct Recipe {
    const Workload& workload;
    const Candidate& candidate;
  };
  const Suite* suite = nullptr;
  const Workload* workload = nullptr;
  std::string arm;
  std::string arch;
  std::vector<Candidate> candidates;  // the arm's recipes, in order
};

// Of every workload suite and every architecture of the plan's fleets. Points into `plan` and `workloads`.
std::vector<ArmNeed> arm_needs(const Plan& plan, const std::vector<Workload>& workloads);

// What is to be built: each candidate that can be, once, whatever arms share it. Points into `needs`.
std::vector<ArmNeed::Recipe> recipes_of(const std::vector<ArmNeed>& needs);

struct ArmVerdict {
  std::vector<std::string> notes;  // "arm X (suite Y) is not built: …", of arms that may be left out
  Status status;                   // of those that may not, all in one message
};

// An arm is not built when none of its recipes is. It may be left out where its suite says skip_unbuilt and it is not
// the baseline. `unbuilt`: key -> why; all other keys have a bundle, or can have one. kWorkload when one of the builds
// failed, else kUsage.
ArmVerdict judge_arms(const std::vector<ArmNeed>& needs, const std::map<std::string, Error>& unbuilt);

}  // namespace benchctl
