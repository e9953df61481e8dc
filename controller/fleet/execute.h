// The whole run but its report: machines made, measured and gone, every sample in the store.
#pragma once

#include <string>
#include <vector>

#include "controller/fleet/run_context.h"

namespace benchctl {

struct FailedTrial {
  int64_t number = 0;
  std::string suite, point, arm;
  std::string verdict;
  std::string reason;
};

struct MachineOutcome {
  std::string machine;
  int trials_ok = 0;
  std::vector<FailedTrial> failed;
  std::vector<Error> errors;  // of the machine itself: not made, rejected, cut off, leaked …
  std::string rejected;       // why another one was asked for in its place; no failure of the run
};

struct RunOutcomeReport {
  std::vector<MachineOutcome> machines;
  bool interrupted = false;
  // By precedence 8, 7, 4, 5, 6, 1; 0 when all is good.
  int exit_code() const;
  std::string reason() const;  // the first lines for people; empty when good
};

// begin_run must have been recorded by the caller; finish_run is the caller's too, after the report. With input.resume
// it goes on from whatever an earlier controller left: machines that stand are taken up, rounds that are missing run as
// blocks of their own. Nothing missing and nothing left is a good run at once.
RunOutcomeReport execute(const RunInput& input, RunWorld& world);

// The precedence of exit codes when several things failed.
int worse_exit_code(int a, int b);

}  // namespace benchctl
