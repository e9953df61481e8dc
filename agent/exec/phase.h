// One phase of a trial under supervision: started, waited for without polling, timed out, and everything it left ended.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

#include "agent/exec/cgroup.h"
#include "agent/exec/meter.h"
#include "agent/exec/processes.h"
#include "agent/exec/sampler.h"
#include "agent/exec/spawn.h"
#include "agent/exec/stop_signal.h"
#include "lib/clock.h"
#include "lib/files.h"

namespace benchctl {

struct PhaseRequest {
  SpawnOptions spawn;
  int64_t timeout_ms = 0;
  int64_t grace_ms = 1'000;   // between SIGTERM and SIGKILL
  int64_t ending_ms = 5'000;  // for everything to be gone after SIGKILL
  int64_t output_cap = 0;     // of stdout and of stderr
  UniqueFd out_file, err_file;
};

// Who watches; the meter is for the measured phase only.
struct PhaseWatch {
  Clock& clock;
  StopSignal& stop;
  const TrialCgroup& cgroup;
  Sampler& sampler;
  Meter* meter = nullptr;
};

struct PhaseOutcome {
  enum class Cause { kItself, kTimeout, kOutputLimit, kStopped, kNoSpace };
  Cause cause = Cause::kItself;  // why it ended
  std::string missing;           // exec failed: the path and the reason; nothing else is set then
  std::string write_error;       // kNoSpace and other failures of writing its output
  bool reaped = false;           // false: not even SIGKILL ended the main process
  int wait_status = 0;
  rusage usage{};
  int64_t wall_ns = 0;  // fork to reap
  ProcessIo io;
  Measurement measured;
  int64_t wakeups = 0;  // of the agent
  int64_t ended_descendants = 0;
  std::vector<std::string> survivors;
  int64_t stdout_bytes = 0, stderr_bytes = 0;
  std::string stderr_tail;
};

// An error is the agent's own failure, never the trial's.
Result<PhaseOutcome> run_phase(PhaseRequest request, PhaseWatch watch);

}  // namespace benchctl
