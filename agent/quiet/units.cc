#include "agent/quiet/units.h"

#include <algorithm>

#include "lib/files.h"
#include "lib/json.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using std::chrono::seconds;

// Longer than systemd's own patience with a unit that does not stop (90 s).
constexpr Nanos kStopTime = seconds(120);
constexpr Nanos kAskTime = seconds(30);
constexpr Nanos kReloadTime = seconds(90);

std::string value_of(const std::map<std::string, std::string>& block, const std::string& key) {
  auto found = block.find(key);
  return found == block.end() ? "" : found->second;
}

UnitState state_of(const std::map<std::string, std::string>& block) {
  return {value_of(block, "Id"),
          value_of(block, "LoadState"),
          value_of(block, "ActiveState"),
          value_of(block, "SubState"),
          value_of(block, "UnitFileState"),
          value_of(block, "Type"),
          ""};
}

}  // namespace

std::vector<std::map<std::string, std::string>> parse_show(const std::string& text) {
  std::vector<std::map<std::string, std::string>> blocks(1);
  for (std::string_view line : split(text, '\n')) {
    size_t equals = line.find('=');
    if (line.empty() && !blocks.back().empty()) blocks.emplace_back();
    if (equals != std::string_view::npos && equals > 0)
      blocks.back().emplace(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
  }
  if (blocks.back().empty()) blocks.pop_back();
  return blocks;
}

Result<std::vector<Units::Timer>> parse_list_timers(const std::string& text) {
  BENCHCTL_TRY(Json json, Json::parse(text, {.bytes = 8 << 20, .depth = 8, .values = 200'000}));
  if (!json.is_array()) return Error{ErrorKind::kInternal, "list-timers gives no list"};
  std::vector<Units::Timer> timers;
  for (const Json& one : json.as_array()) {
    const Json& next = one["next"];
    if (one["unit"].as_string().empty()) return Error{ErrorKind::kInternal, "list-timers gives a timer without name"};
    // None is null, 0 or, as a number of 64 bits without sign, all ones.
    std::string when;
    if (next.is_int() && next.as_int() > 0) when = format_utc(next.as_int() / 1000);
    if (next.is_string() && next.as_string() != "n/a" && next.as_string() != "-") when = next.as_string();
    if (!when.empty()) timers.push_back({one["unit"].as_string(), when, one["activates"].as_string()});
  }
  return timers;
}

Units::Units(QuietWorld& world) : world_(world) {
  // sd_booted(3), and that it is still the first process.
  if (!exists(world.path("/run/systemd/system")) || world.text("/proc/1/comm").value_or("systemd") != "systemd")
    obstacle_ = "systemd does not run here";
}

Result<std::string> Units::ask(const std::vector<std::string>& words) {
  std::vector<std::string> argv = {"systemctl", "--no-pager"};
  argv.insert(argv.end(), words.begin(), words.end());
  auto end = world_.commands.run(argv, kAskTime, false);
  if (!end) return end.error().in("systemctl " + words[0]);
  if (end->exit_code != 0)
    return Error{ErrorKind::kInternal, "systemctl " + words[0] + ": exit " + std::to_string(end->exit_code)};
  return std::move(end->output);
}

Status Units::order(const std::vector<std::string>& words, Nanos time) {
  std::vector<std::string> argv = {"systemctl", "--no-pager", "--no-ask-password"};
  argv.insert(argv.end(), words.begin(), words.end());
  const std::string what = join(words, " ");
  auto end = world_.commands.run(argv, time, true);
  if (!end) return end.error().in("systemctl " + what);
  if (end->exit_code == 0) return {};
  return Error{ErrorKind::kInternal, "systemctl " + what + ": exit " + std::to_string(end->exit_code) + ": " +
                                         sanitize(trim(end->output), 300)};
}

void Units::read(const std::vector<std::string>& names) {
  if (names.empty() || !obstacle_.empty()) return;
  std::vector<std::string> words = {"show", "--property=Id,LoadState,ActiveState,SubState,UnitFileState,Type", "--"};
  words.insert(words.end(), names.begin(), names.end());
  auto answer = ask(words);
  auto blocks = answer ? parse_show(*answer) : std::vector<std::map<std::string, std::string>>();
  bool whole = blocks.size() == names.size();
  for (const auto& block : blocks)
    whole = whole && !value_of(block, "LoadState").empty() && !value_of(block, "ActiveState").empty();
  if (whole) {
    for (size_t i = 0; i < names.size(); ++i) states_[names[i]] = state_of(blocks[i]);
  } else if (names.size() > 1) {
    for (const std::string& name : names) read({name});
  } else {
    states_[names[0]] = {.error = answer ? "systemctl show gives no state" : answer.error().message};
  }
}

const UnitState& Units::of(const std::string& name) const {
  static const UnitState kUnknown{.error = "its state was not asked for"};
  auto found = states_.find(name);
  return found == states_.end() ? kUnknown : found->second;
}

Status Units::stop(const std::string& unit) {
  return order({"stop", "--", unit}, kStopTime);
}

Status Units::start(const std::string& unit, bool wait) {
  return wait ? order({"start", "--", unit}, kStopTime) : order({"start", "--no-block", "--", unit}, kAskTime);
}

Status Units::reload() {
  return order({"daemon-reload"}, kReloadTime);
}

Result<std::vector<Units::Timer>> Units::standing_timers() {
  std::vector<Timer> timers;
  if (!obstacle_.empty()) return timers;
  if (auto listed = ask({"list-timers", "--all", "--output=json"}))
    if (auto parsed = parse_list_timers(*listed)) timers = *std::move(parsed);
  // A timer without a next run for the moment, because what it starts is running, will have one.
  BENCHCTL_TRY(std::string shown,
               ask({"show", "--property=Id,ActiveState,SubState,Unit,NextElapseUSecRealtime", "--", "*.timer"}));
  for (const auto& block : parse_show(shown)) {
    if (value_of(block, "ActiveState") != "active" || value_of(block, "SubState") == "elapsed") continue;
    const std::string name = value_of(block, "Id");
    if (std::any_of(timers.begin(), timers.end(), [&](const Timer& timer) { return timer.name == name; })) continue;
    std::string next = value_of(block, "NextElapseUSecRealtime");
    timers.push_back({name, next.empty() || next == "n/a" ? "soon" : next, value_of(block, "Unit")});
  }
  return timers;
}

}  // namespace benchctl
