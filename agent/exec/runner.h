// The run itself: rounds in their order, sealed as they finish, until nothing is left to do or a stop is asked for.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

// Runs D to its end and returns the exit code that run.done holds: 0 every trial asked for was run (verdicts stand in
// the trials), 5 something survived a trial, 6 the disk was full, 7 stopped before the end. An error means that the
// agent itself failed; it can be started again and continues.
Result<int> run_job(const std::string& dir, Clock& clock);

}  // namespace benchctl
