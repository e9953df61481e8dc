// From a plan to ordered trials: pure, the same answer for the same plan, workloads and machine everywhere.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/points.h"
#include "lib/result.h"
#include "lib/wire/job.h"

namespace benchctl {

// A bundle that the trials run from, not yet built or known by hash.
struct BundleNeed {
  std::string key;  // what stands in TrialSpec::bundle until set_bundles: "request_shape/c x86-64-v2", "command/mine"
  std::string workload;  // with `build`: of a workload
  std::string build;
  std::string program;  // of the user's own: path below Plan::root; it lies in the bundle under its file name
};

struct Expansion {
  std::vector<RoundSpec> rounds;  // warm-ups first (.., -1, 0), then 1..runs
  std::vector<Point> points;
  std::vector<BundleNeed> bundles;
};

// Errors: an arm, mode or build that the workloads do not have, a placeholder without a parameter.
Result<Expansion> expand(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& machine);

// The key of a recipe's bundle for machines of `arch`, built for the suite's ISA (of a suite that is built on the
// machine: of the sources before, of what was made of them there afterwards); nullopt when the recipe cannot be built
// for that architecture.
std::optional<std::string> bundle_key(const Workload& workload, const std::string& build, const Suite& suite,
                                      const std::string& arch);

// Replaces the keys by hashes. A key without one is an error that names it.
Status set_bundles(Expansion& expansion, const std::map<std::string, std::string>& sha256_of_key);

}  // namespace benchctl
