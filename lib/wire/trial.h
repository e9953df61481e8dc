// trial.json: everything about one attempt of one trial that is not in its output. Written by the agent before the
// round is sealed, read by the controller as hostile input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/json.h"
#include "lib/result.h"
#include "lib/wire/job.h"

namespace benchctl {

inline constexpr int kTrialVersion = 1;

// Verdicts of the agent: ok | exit (a code other than 0) | usage (2) | unsupported (75) | signal | timeout | oom |
// output_limit | missing (no such binary) | no_space | survivors | throttled | stopped. `malformed` is the
// controller's, from reading the output. Only ok trials give samples.
struct TrialRecord {
  TrialSpec spec;
  std::string verdict;
  std::string reason;  // one sentence for people; empty when ok
  std::optional<int> exit_code;
  std::string signal;  // "SIGSEGV"
  std::string phase;   // the phase that decided the verdict
  int64_t started_unix_ms = 0;
  int64_t wall_ns = 0;  // of the run phase: fork to reap
  int64_t user_ns = 0;
  int64_t system_ns = 0;
  int64_t max_rss_bytes = 0;
  int64_t minor_faults = 0;
  int64_t major_faults = 0;
  int64_t voluntary_switches = 0;
  int64_t involuntary_switches = 0;
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  int64_t cpu_total_jiffies = 0;  // of the trial's CPUs during the run phase; guest not counted twice
  int64_t steal_jiffies = 0;
  std::optional<double> steal_percent;  // absent: too short to say, unreliable or not exposed
  std::string steal_note;               // why it is absent
  std::optional<double> psi_cpu_some;   // percent of the run phase; absent where PSI is
  std::optional<double> psi_io_some;
  int64_t throttled = 0;  // rise of nr_throttled
  int uid = 0;
  std::string cpus;
  std::string containment;  // "cgroup v2 + uid 60706", "process tree only (not root)" …: weaker containment is said
  int64_t ended_descendants = 0;  // processes that had to be ended after the main one
  // The agent's own cost while the trial ran.
  int64_t agent_cpu_ns = 0;
  int64_t agent_wakeups = 0;
  int64_t stdout_bytes = 0;
  int64_t stderr_bytes = 0;
};

Json to_json(const TrialRecord& record);
Result<TrialRecord> trial_from_json(const Json& json);

}  // namespace benchctl
