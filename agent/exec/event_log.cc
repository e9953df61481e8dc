#include "agent/exec/event_log.h"

#include "lib/text.h"

namespace benchctl {

Result<RunHistory> read_history(const RunFolder& folder) {
  RunHistory history;
  if (!exists(folder.file("events.jsonl"))) return history;
  BENCHCTL_TRY(std::string text, read_file(folder.file("events.jsonl"), int64_t{1} << 30));
  std::string unit;
  for (std::string_view rest = text; !rest.empty();) {
    size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;  // cut by a crash: it never happened
    auto event = parse_event(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    if (!event) return event.error().in(folder.file("events.jsonl"));
    if (event->number != history.last_event + 1)
      return Error{ErrorKind::kInternal, folder.file("events.jsonl") + ": event " + std::to_string(event->number) +
                                             " follows " + std::to_string(history.last_event)};
    history.last_event = event->number;
    const Json& fields = event->fields;
    if (event->kind == "agent_started") history.boot_id = fields["boot_id"].as_string();
    if (event->kind == "round_started") unit = fields["unit"].as_string();
    if (event->kind == "trial_started")
      history.trials[unit].emplace_back(fields["trial"].as_int(), static_cast<int>(fields["attempt"].as_int()));
    if (event->kind == "round_sealed") history.sealed_units.insert(fields["unit"].as_string());
    if (event->kind == "round_appended") history.appended.insert(fields["file"].as_string());
    if (event->kind == "point_repeated") ++history.repeats.made;
    if (event->kind == "repeats_used_up") history.repeats.said_used_up = true;
    if (event->kind == "run_done") {
      history.done = true;
      history.exit = static_cast<int>(fields["exit"].as_int());
    }
  }
  return history;
}

Result<EventLog> EventLog::open(const RunFolder& folder, Clock& clock, int64_t last_event) {
  BENCHCTL_TRY(AppendFile file, AppendFile::open(folder, "events.jsonl", ""));
  return EventLog(std::move(file), clock, last_event);
}

Status EventLog::append(const std::string& kind, Json fields) {
  Event event{last_ + 1, clock_->unix_ms(), kind, std::move(fields)};
  BENCHCTL_CHECK(file_.append(event_line(event), true));
  ++last_;
  return {};
}

}  // namespace benchctl
