// events.jsonl: numbered without gaps, on the disk before the next action, and its own memory of what was done.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/exec/append_file.h"
#include "agent/exec/repeat_rule.h"
#include "agent/exec/run_folder.h"
#include "lib/clock.h"
#include "lib/result.h"
#include "lib/wire/event.h"

namespace benchctl {

// What earlier agents of this run have done.
struct RunHistory {
  int64_t last_event = 0;
  std::set<std::string> sealed_units;
  std::map<std::string, std::vector<std::pair<int64_t, int>>> trials;  // unit -> (trial, attempt), as started
  std::set<std::string> appended;                                      // names of rounds/ files that were announced
  std::string boot_id;                                                 // of the last agent_started
  RepeatsSpent repeats;
  bool done = false;
  int exit = 0;
};

Result<RunHistory> read_history(const RunFolder& folder);

class EventLog {
 public:
  static Result<EventLog> open(const RunFolder& folder, Clock& clock, int64_t last_event);
  Status append(const std::string& kind, Json fields);

 private:
  EventLog(AppendFile file, Clock& clock, int64_t last) : file_(std::move(file)), clock_(&clock), last_(last) {}
  AppendFile file_;
  Clock* clock_;
  int64_t last_;
};

}  // namespace benchctl
