// Runs the commands of a toolchain or a build recipe into a folder that appears only when all of them have succeeded.
#pragma once

#include <string>
#include <vector>

#include "controller/workloads/build_context.h"
#include "lib/result.h"

namespace benchctl {

struct Recipe {
  std::string name;  // "request_shape/c": for messages and for the names of log and work folder
  std::string cwd;
  std::vector<std::vector<std::string>> steps;
  std::vector<std::string> env;  // KEY=VALUE beside BENCHCTL_OUT and BENCHCTL_WORK
};

// Into `out`, by rename. A step that fails is an Error that names the step, the log and its last line; the log's end
// has then been said, and the error is kept beside `out` until a run succeeds.
Status run_recipe(const Recipe& recipe, const std::string& out, BuildContext& context);

// What run_recipe() said when it last tried to make `out`; good when it has not, or has succeeded since.
Status last_failure(const std::string& out);

}  // namespace benchctl
