#include "lib/wire/event.h"

namespace benchctl {
namespace {

bool is_head(std::string_view key) {
  return key == "v" || key == "n" || key == "t" || key == "kind";
}

}  // namespace

std::string event_line(const Event& event) {
  Json json = Json::object();
  json.set("v", kEventVersion);
  json.set("n", event.number);
  json.set("t", event.unix_ms);
  json.set("kind", event.kind);
  for (const auto& [key, value] : event.fields.as_object())
    if (!is_head(key)) json.set(key, value);
  return json.dump() + "\n";
}

Result<Event> parse_event(std::string_view line) {
  auto parsed = Json::parse(line, {.bytes = 64 << 10, .depth = 8, .values = 1000});
  if (!parsed) return parsed.error().in("event");
  BENCHCTL_TRY(int64_t version, parsed->need_int("v"));
  if (version != kEventVersion)
    return Error{ErrorKind::kInternal, "event of version " + std::to_string(version) + ", this benchctl speaks " +
                                           std::to_string(kEventVersion)};
  Event event;
  BENCHCTL_TRY(event.number, parsed->need_int("n"));
  BENCHCTL_TRY(event.kind, parsed->need_string("kind"));
  BENCHCTL_TRY(event.unix_ms, parsed->need_int("t"));
  if (event.number < 1 || event.kind.empty())
    return Error{ErrorKind::kInternal, "event without a number above 0 or without a kind"};
  for (const auto& [key, value] : parsed->as_object())
    if (!is_head(key)) event.fields.set(key, value);
  return event;
}

}  // namespace benchctl
