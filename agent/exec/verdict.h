// From what happened to a phase to a verdict and one sentence for people. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent/exec/phase.h"

namespace benchctl {

struct Verdict {
  std::string verdict = "ok";  // words of lib/wire/trial.h
  std::string reason;
  std::optional<int> exit_code;
  std::string signal;
};

struct VerdictContext {
  int64_t timeout_ms = 0;
  int64_t output_cap = 0;
  int64_t oom_kills = 0;       // rise during the phase
  int64_t memory_bytes = 0;    // the limit, for the sentence
  bool disk_was_full = false;  // nothing was free on the work directory when it ended
};

Verdict judge(const PhaseOutcome& outcome, const VerdictContext& context);

std::string signal_name(int signal);  // "SIGSEGV", "SIG64" for those without a name

}  // namespace benchctl
