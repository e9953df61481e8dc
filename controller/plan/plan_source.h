// Where a plan comes from: the only part of plan/ that touches the world.
#pragma once

#include <string>

#include "controller/plan/machine_shape.h"
#include "lib/result.h"

namespace benchctl {

struct PlanSource {
  std::string file;  // as given; messages begin with it
  std::string text;
  // Absolute: the nearest parent of the file with .git, else its folder. Empty: the plan may name no files (fuzzing).
  std::string root;
  MachineShape host;  // of this computer: what nspawn and local machines are parts of
};

// A regular file of at most 1 MiB.
Result<PlanSource> load_plan_source(const std::string& file);
// This computer as benchctl sees it: CPUs by affinity, architecture by uname.
MachineShape host_shape();

// Proves that `relative` (a leading ./ is allowed) is a regular file below `root`, reached without links.
Status check_beneath(const std::string& root, const std::string& relative);
// "./bench" -> "bench".
std::string without_dot(const std::string& relative);

}  // namespace benchctl
