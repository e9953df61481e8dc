// `benchctl workloads list|build|check|trace`, without flags and terminal: results go to `out`.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "controller/workloads/build.h"
#include "controller/workloads/build_context.h"
#include "lib/result.h"

namespace benchctl {

struct BuildOptions {
  std::vector<std::string> arms;  // empty: all
  BuildWish wish;
  bool json = false;
};

struct CheckOptions {
  int64_t items = 1000;           // the mode's integer parameter `items`, where it has one
  std::vector<std::string> arms;  // empty: all
  BuildWish wish;
};

// Every workload with its modes, parameters and arms, and whether each arm's bundle is built; one that cannot be says
// why, and how to get what is missing. With `json`, one JSON array. `name` empty: all of them.
Status workloads_list(const std::string& name, BuildContext& context, bool json, std::ostream& out);
// Builds what is not built yet; one line a bundle: workload/build, sha256, folder; and one for each recipe that cannot
// be built here. An error when a build failed (kWorkload), when a named arm or a baseline is not built (kUsage); what
// could be built is built then. `name` empty: every workload, and of named arms those that it has; an arm that none has
// is kUsage.
Status workloads_build(const std::string& name, const BuildOptions& options, BuildContext& context, std::ostream& out);
// Runs every arm that is built once: "checks agree", or kWorkload with which arms differ in what. Arms that are not
// built or not for this computer are named.
Status workloads_check(const std::string& name, const CheckOptions& options, BuildContext& context, std::ostream& out);
// What one arm's trace prints.
Status workloads_trace(const std::string& name, const std::string& arm, BuildContext& context, std::ostream& out);

}  // namespace benchctl
