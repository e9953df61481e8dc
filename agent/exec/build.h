// A recipe run here: a bundle of sources becomes a bundle of programs, made with this machine's compiler.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/result.h"
#include "lib/wire/machine_build.h"

namespace benchctl {

struct BuildRequest {
  std::string work_dir;  // W: bundles lie in W/bundles; what a build leaves, in W/builds
  std::string sources;   // sha256 of the bundle that holds build.sh
  std::string arch, isa;
  int64_t timeout_ms = 0;  // of the recipe, and of waiting for another call that runs it
};

// Everything that the recipe does is in the answer; an error is the agent's own. The recipe runs as a trial does, under
// a user of its own where that can be, and nothing of it outlives it. The same request again gives the bundle that is
// there, waits for a call that makes it, or begins anew where one was cut short.
Result<MachineBuild> build_here(const BuildRequest& request, Clock& clock);

}  // namespace benchctl
