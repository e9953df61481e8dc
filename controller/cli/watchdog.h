// A process beside the controller that outlives it: when the controller is killed and nobody goes on with the run, its
// machines are removed once they expire, and none before.
#pragma once

#include <string>

#include "controller/cli/parts.h"
#include "controller/store/rows.h"

namespace benchctl {

// The watchdog of a run while this controller lives. It goes with the controller's work unless machines of the run
// stand: those that are kept, or could not be removed, are watched until they are gone.
class RunWatchdog {
 public:
  // One watchdog a run: where an earlier controller's still watches, none is added. A failure to start one is told by
  // failed(), and is no reason not to run.
  RunWatchdog(const RunRow& run, Store& store);
  ~RunWatchdog();
  RunWatchdog(const RunWatchdog&) = delete;
  RunWatchdog& operator=(const RunWatchdog&) = delete;
  bool failed() const { return pid_ < 0; }

 private:
  Store& store_;
  std::string run_;
  int pid_ = -1;
};

}  // namespace benchctl
