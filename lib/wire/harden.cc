#include "lib/wire/harden.h"

#include <algorithm>
#include <iterator>

#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kMaxKnobs = 500;
constexpr size_t kMaxRows = 10'000;
constexpr size_t kMaxProblems = 10'000;
constexpr size_t kMaxText = 4096;
constexpr int64_t kMaxWaitMs = 3'600'000;

constexpr std::string_view kStatuses[] = {"applied", "already", "differs", "not_exposed", "absent", "failed"};
constexpr std::string_view kVerbs[] = {"show", "apply", "verify", "undo"};

template <typename Words>
bool one_of(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

Error bad(const std::string& what) {
  return Error{ErrorKind::kInternal, "hardening: " + what};
}

bool plain(std::string_view text, std::string_view more) {
  return !text.empty() && text.size() <= 256 && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

// No part that climbs: the name becomes a path.
bool valid_sysctl(std::string_view name) {
  if (!plain(name, "._-") || name.find('.') == std::string_view::npos) return false;
  for (std::string_view part : split(name, '.'))
    if (part.empty()) return false;
  return true;
}

bool valid_sys_path(std::string_view path) {
  if (!path.starts_with("/sys/") || !plain(path, "/._-:@")) return false;
  for (std::string_view part : split(path.substr(1), '/'))
    if (part.empty() || part == "." || part == "..") return false;
  return true;
}

bool one_line(std::string_view value) {
  return !value.empty() && value.size() <= 256 && sanitize(value, 1024) == value;
}

Result<std::string> text_of(const Json& json, std::string_view key) {
  const Json& value = json[key];
  if (!value.is_string()) return bad("\"" + std::string(key) + "\" is no text");
  if (value.as_string().size() > kMaxText) return bad("\"" + std::string(key) + "\" is too long");
  return value.as_string();
}

Result<std::vector<std::string>> texts_of(const Json& json, std::string_view key, size_t most) {
  const Json& value = json[key];
  if (!value.is_array()) return bad("\"" + std::string(key) + "\" is no list");
  std::vector<std::string> texts = value.as_strings();
  if (texts.size() != value.as_array().size()) return bad("\"" + std::string(key) + "\" holds what is no text");
  if (texts.size() > most) return bad("\"" + std::string(key) + "\" is too long");
  for (const std::string& text : texts)
    if (text.size() > kMaxText) return bad("\"" + std::string(key) + "\" holds a text that is too long");
  return texts;
}

Status check_version(const Json& json) {
  BENCHCTL_TRY(int64_t version, json.need_int("version"));
  if (version == kHardenVersion) return {};
  return bad("version " + std::to_string(version) + ", spoken here is version " + std::to_string(kHardenVersion) +
             "; agent and controller must come from one build");
}

Result<QuietProof> proof_from_json(const Json& json) {
  if (!json.is_object() || !json["ok"].is_bool()) return bad("a report without its proof");
  QuietProof proof{json["ok"].as_bool(), {}};
  BENCHCTL_TRY(proof.problems, texts_of(json, "problems", kMaxProblems));
  if (proof.ok != proof.problems.empty()) return bad("a proof that contradicts itself");
  return proof;
}

Result<HardenRow> row_from_json(const Json& json) {
  HardenRow row;
  const std::pair<const char*, std::string*> fields[] = {
      {"knob", &row.knob},           {"target", &row.target}, {"requested", &row.requested}, {"found", &row.found},
      {"read_back", &row.read_back}, {"status", &row.status}, {"reason", &row.reason}};
  for (auto [key, field] : fields) {
    BENCHCTL_TRY(*field, text_of(json, key));
  }
  if (!one_of(row.status, kStatuses)) return bad("unknown status \"" + sanitize(row.status, 60) + "\"");
  return row;
}

}  // namespace

bool valid_unit(std::string_view name) {
  static constexpr std::string_view kTypes[] = {".service", ".timer", ".socket", ".path", ".target", ".mount"};
  if (!plain(name, ":-_.\\@") || name.front() == '-' || name.find("@.") != std::string_view::npos) return false;
  return std::any_of(std::begin(kTypes), std::end(kTypes),
                     [&](std::string_view type) { return name.size() > type.size() && name.ends_with(type); });
}

Status check_knob(const HardenKnob& knob) {
  const std::string &kind = knob.knob, &target = knob.target, &value = knob.requested;
  auto wrong = [&](const std::string& what) {
    return Error{ErrorKind::kUsage, "hardening: " + sanitize(kind, 60) + " \"" + sanitize(target, 200) + "\": " + what};
  };
  auto wants = [&](std::initializer_list<std::string_view> values) -> Status {
    if (one_of(value, values)) return {};
    return wrong("cannot be \"" + sanitize(value, 60) + "\"");
  };
  if (kind == "service") {
    if (!valid_unit(target) || target.ends_with(".timer")) return wrong("no name of a service, socket or path unit");
    return wants({"masked", "stopped", "disabled"});
  }
  if (kind == "timer") {
    if (!valid_unit(target) || !target.ends_with(".timer")) return wrong("no name of a timer");
    return wants({"masked"});
  }
  if (kind == "sysctl" || kind == "file") {
    if (!(kind == "file" ? valid_sys_path(target) : valid_sysctl(target)))
      return wrong(kind == "file" ? "no path below /sys" : "no name of a sysctl");
    return one_line(value) ? Status() : wrong("its value must be one short line");
  }
  if (!one_of(kind, std::initializer_list<std::string_view>{"swap", "governor", "turbo", "smt"}))
    return wrong("unknown knob; known are service, timer, sysctl, file, swap, governor, turbo, smt");
  if (target != "all") return wrong("its target must be \"all\"");
  if (kind == "governor") return plain(value, "_-") ? Status() : wrong("no name of a governor");
  return wants({"off"});
}

Json to_json(const HardenProfile& profile) {
  Json json = Json::object();
  json.set("version", profile.version);
  json.set("name", profile.name);
  Json knobs = Json::array();
  for (const HardenKnob& knob : profile.knobs) {
    Json one = Json::object();
    one.set("knob", knob.knob);
    one.set("target", knob.target);
    one.set("requested", knob.requested);
    knobs.push(std::move(one));
  }
  json.set("knobs", std::move(knobs));
  json.set("allow_timers", profile.allow_timers);
  json.set("cloud_init_wait_ms", profile.cloud_init_wait_ms);
  json.set("cloud_init_marker", profile.cloud_init_marker);
  json.set("dpkg_wait_ms", profile.dpkg_wait_ms);
  return json;
}

Json to_json(const QuietProof& proof) {
  Json json = Json::object();
  json.set("ok", proof.ok);
  json.set("problems", proof.problems);
  return json;
}

Json to_json(const HardenReport& report) {
  Json json = Json::object();
  json.set("version", report.version);
  json.set("verb", report.verb);
  json.set("profile", report.profile);
  Json rows = Json::array();
  for (const HardenRow& row : report.rows) {
    Json one = Json::object();
    one.set("knob", row.knob);
    one.set("target", row.target);
    one.set("requested", row.requested);
    one.set("found", row.found);
    one.set("read_back", row.read_back);
    one.set("status", row.status);
    one.set("reason", row.reason);
    rows.push(std::move(one));
  }
  json.set("rows", std::move(rows));
  json.set("proof", to_json(report.proof));
  return json;
}

Result<HardenProfile> harden_profile_from_json(const Json& json) {
  BENCHCTL_CHECK(check_version(json));
  HardenProfile profile;
  BENCHCTL_TRY(profile.name, text_of(json, "name"));
  if (!valid_id(profile.name)) return bad("a profile whose name is none");
  if (!json["knobs"].is_array()) return bad("\"knobs\" is no list");
  if (json["knobs"].as_array().size() > kMaxKnobs) return bad("too many knobs");
  for (const Json& one : json["knobs"].as_array()) {
    HardenKnob knob;
    BENCHCTL_TRY(knob.knob, text_of(one, "knob"));
    BENCHCTL_TRY(knob.target, text_of(one, "target"));
    BENCHCTL_TRY(knob.requested, text_of(one, "requested"));
    BENCHCTL_CHECK(check_knob(knob));
    profile.knobs.push_back(std::move(knob));
  }
  BENCHCTL_TRY(profile.allow_timers, texts_of(json, "allow_timers", kMaxKnobs));
  BENCHCTL_TRY(profile.cloud_init_wait_ms, json.need_int("cloud_init_wait_ms"));
  BENCHCTL_TRY(profile.dpkg_wait_ms, json.need_int("dpkg_wait_ms"));
  for (int64_t wait : {profile.cloud_init_wait_ms, profile.dpkg_wait_ms})
    if (wait < 0 || wait > kMaxWaitMs) return bad("a wait outside 0 to one hour");
  BENCHCTL_TRY(profile.cloud_init_marker, text_of(json, "cloud_init_marker"));
  return profile;
}

Result<HardenReport> harden_report_from_json(const Json& json) {
  BENCHCTL_CHECK(check_version(json));
  HardenReport report;
  BENCHCTL_TRY(report.verb, text_of(json, "verb"));
  if (!one_of(report.verb, kVerbs)) return bad("a report of an unknown verb");
  BENCHCTL_TRY(report.profile, text_of(json, "profile"));
  if (!json["rows"].is_array()) return bad("\"rows\" is no list");
  if (json["rows"].as_array().size() > kMaxRows) return bad("too many rows");
  for (const Json& one : json["rows"].as_array()) {
    BENCHCTL_TRY(HardenRow row, row_from_json(one));
    report.rows.push_back(std::move(row));
  }
  BENCHCTL_TRY(report.proof, proof_from_json(json["proof"]));
  return report;
}

Result<HardenReport> parse_harden_report(std::string_view text) {
  auto json = Json::parse(text, {.bytes = 8 << 20, .depth = 8, .values = 200'000});
  if (!json) return json.error().in("hardening report");
  return harden_report_from_json(*json);
}

}  // namespace benchctl
