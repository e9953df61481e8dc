// Points: a suite with one value for each parameter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/plan/machine_shape.h"
#include "controller/plan/plan.h"
#include "controller/workloads/workload.h"

namespace benchctl {

struct Point {
  size_t suite = 0;                           // index into Plan::suites
  std::map<std::string, std::string> params;  // all of them, also those that do not vary
  std::string label;                          // those that vary: "workers=4"; "" when the suite has a single point
  std::string hash;                           // sha256 of all that the store says of a point, see points.cc
  std::string definition_hash;                // sha256 of workload, version, mode, params; arms and plan are not in it
  bool aa = false;                            // the copy of the baseline runs here
};

// "auto" of a list: powers of two up to the CPU count, then twice the CPU count.
std::vector<std::string> auto_workers(int cpus);
// Names the workload's version in the definition; a workload that is not among `workloads` counts as version "".
std::vector<Point> points_of(const Plan& plan, const std::vector<Workload>& workloads, int cpus);
// How many points the suite makes on a machine of `cpus`, without making them; capped at a million.
int64_t count_points(const Suite& suite, int cpus);

}  // namespace benchctl
