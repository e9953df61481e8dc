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
//   disk_full       {free, needed}
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
