// The bundles a plan needs, built or taken from the cache, each known by the hash of its manifest.
#pragma once

#include <functional>
#include <map>
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

struct Shipment {
  std::vector<BuiltBundle> bundles;
  std::map<std::string, std::string> unbuilt;  // BundleNeed::key -> why there is none
};

// For every architecture of the plan's fleets. An arm that cannot be built stops the run where its suite says so (it
// was named, and skip_unbuilt is not set) or where it is the baseline: kUsage, or kWorkload when its build failed, with
// all of them in one message; else it is left out, and said. kInterrupted when `stop` says so.
Result<Shipment> make_bundles(Context& context, const Plan& plan, const std::vector<Workload>& workloads,
                              Progress& progress, const std::function<bool()>& stop);

// As if every suite said skip_unbuilt = true.
void skip_unbuilt(Plan& plan);

// What `plan check` knows without building: lines "arm X of suite Y is not built: …", and the error that a run would
// end with.
struct Foresight {
  std::vector<std::string> notes;
  Status verdict;
};
Foresight foresee_bundles(Context& context, const Plan& plan, const std::vector<Workload>& workloads);

}  // namespace benchctl
