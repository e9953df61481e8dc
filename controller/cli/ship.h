// The bundles a plan needs, built or taken from the cache, each known by the hash of its manifest.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "controller/cli/context.h"
#include "controller/fleet/progress.h"
#include "controller/plan/plan.h"
#include "controller/store/rows.h"
#include "controller/workloads/build_context.h"
#include "controller/workloads/workload.h"

namespace benchctl {

struct BuiltBundle {
  std::string key;     // BundleNeed::key
  std::string folder;  // absolute
  BundleRow row;
};

// What building may use of the world, here.
BuildContext build_context(Context& context, std::function<void(const std::string&)> say);

Result<std::vector<BuiltBundle>> make_bundles(Context& context, const Plan& plan,
                                              const std::vector<Workload>& workloads, Progress& progress);

}  // namespace benchctl
