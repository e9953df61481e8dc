// The analysis is a Python package in an environment of its own; we speak one versioned JSON request and answer with
// it (analysis/benchctl_analysis/__main__.py states the members). Without it runs still collect.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

inline constexpr int kAnalysisProtocol = 1;

struct AnalysisEnv {
  std::string python;       // of the virtual environment
  std::string package_dir;  // holds benchctl_analysis/; empty: Python must find it by itself
  std::string repair;       // the command that makes the environment anew
};

// The environment of `python`, or of <source_root>/analysis/.venv where that is empty. Looks at no file but the
// package's: whether it works shows when it is used.
AnalysisEnv analysis_env(const std::string& source_root, const std::string& python = "");

// Sends the request (its "protocol" is set here) and gives the answer, whose "ok" is true. Anything else is an Error
// (kInternal): no environment, with the command that repairs it; another protocol; a refused request, in the words of
// the analysis; a crash, with the last line that it said.
Result<Json> analyse(Json request, const AnalysisEnv& env, Clock& clock, Deadline deadline);

}  // namespace benchctl
