// `benchctl workloads list|build|check|trace`, without flags and terminal: results go to `out`.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "controller/workloads/build_context.h"
#include "lib/result.h"

namespace benchctl {

struct CheckOptions {
  int64_t items = 1000;           // the mode's integer parameter `items`, where it has one
  std::vector<std::string> arms;  // empty: all
};

// Every workload with its modes, parameters and arms; with `json`, one JSON array.
Status workloads_list(const std::string& root, bool json, std::ostream& out);
// Builds what is not built yet; one line a bundle: workload/build, sha256, folder. `name` empty: every workload.
Status workloads_build(const std::string& name, const std::vector<std::string>& arms, BuildContext& context, bool json,
                       std::ostream& out);
// Runs every arm once: "checks agree", or kWorkload with which arms differ in what.
Status workloads_check(const std::string& name, const CheckOptions& options, BuildContext& context, std::ostream& out);
// What one arm's trace prints.
Status workloads_trace(const std::string& name, const std::string& arm, BuildContext& context, std::ostream& out);

}  // namespace benchctl
