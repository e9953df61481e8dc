// What one machine has compiled for itself, and what it could not: kept in the run's folder, so that a controller that
// comes later makes the same job of it.
#pragma once

#include <map>
#include <string>

#include "controller/fleet/run_context.h"

namespace benchctl {

struct MachineBuilds {
  std::map<std::string, LocalBundle> bundles;  // BundleNeed::key -> the bundle on the machine; it has no folder here
  std::map<std::string, std::string> unbuilt;  // the same -> why it was not built
  std::map<std::string, std::string> unfit;    // the same -> why it could not run on this machine
};

// Does any suite want its arms compiled on the machine?
bool builds_on_machines(const Plan& plan);

// <run folder>/builds/<machine>.json; on the disk when it returns. Without the file nothing has been built.
Status save_builds(const std::string& run_folder, const std::string& machine, const MachineBuilds& builds);
Result<MachineBuilds> load_builds(const std::string& run_folder, const std::string& machine);

// The run as that machine has it: what it built in the place of the sources that it was sent.
RunInput seen_by(const RunInput& input, const MachineBuilds& builds);

}  // namespace benchctl
