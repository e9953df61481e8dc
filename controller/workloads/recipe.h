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
// has then been said.
Status run_recipe(const Recipe& recipe, const std::string& out, BuildContext& context);

}  // namespace benchctl
