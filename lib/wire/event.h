// What an agent tells: one JSON object a line in events.jsonl, fsynced before the next action, numbered from 1 without
// gaps. `benchagent events --from N` is how progress is followed and resumed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

inline constexpr int kEventVersion = 1;

// Kinds and their fields:
//   agent_started   {version, sha256, pid, boot_id}
//   facts_taken     {file}                            facts.before.json | facts.after.json
//   waiting_quiet   {busy}                            a round start waits for other processes to become idle
//   round_started   {round, trials}
//   trial_started   {trial, attempt, suite, point, arm, aa_copy, round, position}
//   trial_finished  {trial, attempt, round, verdict, reason, seconds, steal_percent}
//   round_sealed    {round, unit, manifest_sha256, files, bytes}    unit names what `benchagent pull --unit` gives
//   round_appended  {round, trials}
//   stop_requested  {}
//   agent_terminated {}                               by a signal, not by a wish to stop: the next agent goes on
//   disk_full       {free, needed}
//   round_probe     {round, busy, spin_p50_ns, spin_p99_ns, spin_max_ns, steal_jiffies, psi_cpu_some}   null: not
//   measured point_repeated  {round, suite, point, attempt, trial, arm, steal_percent}   the trial that was over
//   repeat_steal;
//                                                     attempt is the one that follows
//   repeats_used_up {limit}                           from here on such rounds stand as they are: the session is noisy
//   quiet_proof     {when, ok, problems[]}            when: start | boot | end; not ok ends the run with exit 5
//   run_done        {exit, reason, unit, manifest_sha256, files, bytes}   always the last
// The head's own names (v, n, t, kind) cannot be fields: they are left out.
struct Event {
  int64_t number = 0;
  int64_t unix_ms = 0;
  std::string kind;
  Json fields = Json::object();
};

std::string event_line(const Event& event);  // with its line feed
Result<Event> parse_event(std::string_view line);

}  // namespace benchctl
