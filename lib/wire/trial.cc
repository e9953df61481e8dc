#include "lib/wire/trial.h"

namespace benchctl {
namespace {

// One list of the plain integer fields serves both directions, so that neither can forget one.
struct IntField {
  const char* key;
  int64_t TrialRecord::*member;
};
constexpr IntField kInts[] = {
    {"started_unix_ms", &TrialRecord::started_unix_ms},
    {"wall_ns", &TrialRecord::wall_ns},
    {"user_ns", &TrialRecord::user_ns},
    {"system_ns", &TrialRecord::system_ns},
    {"max_rss_bytes", &TrialRecord::max_rss_bytes},
    {"minor_faults", &TrialRecord::minor_faults},
    {"major_faults", &TrialRecord::major_faults},
    {"voluntary_switches", &TrialRecord::voluntary_switches},
    {"involuntary_switches", &TrialRecord::involuntary_switches},
    {"read_bytes", &TrialRecord::read_bytes},
    {"written_bytes", &TrialRecord::written_bytes},
    {"cpu_total_jiffies", &TrialRecord::cpu_total_jiffies},
    {"steal_jiffies", &TrialRecord::steal_jiffies},
    {"throttled", &TrialRecord::throttled},
    {"ended_descendants", &TrialRecord::ended_descendants},
    {"agent_cpu_ns", &TrialRecord::agent_cpu_ns},
    {"agent_wakeups", &TrialRecord::agent_wakeups},
    {"stdout_bytes", &TrialRecord::stdout_bytes},
    {"stderr_bytes", &TrialRecord::stderr_bytes},
};

struct TextField {
  const char* key;
  std::string TrialRecord::*member;
};
constexpr TextField kTexts[] = {
    {"verdict", &TrialRecord::verdict},         {"reason", &TrialRecord::reason},
    {"signal", &TrialRecord::signal},           {"phase", &TrialRecord::phase},
    {"steal_note", &TrialRecord::steal_note},   {"cpus", &TrialRecord::cpus},
    {"containment", &TrialRecord::containment},
};

struct ShareField {
  const char* key;
  std::optional<double> TrialRecord::*member;
};
constexpr ShareField kShares[] = {
    {"steal_percent", &TrialRecord::steal_percent},
    {"psi_cpu_some", &TrialRecord::psi_cpu_some},
    {"psi_io_some", &TrialRecord::psi_io_some},
};

Error bad(const std::string& what) {
  return Error{ErrorKind::kInternal, "trial.json " + what};
}

}  // namespace

Json to_json(const TrialRecord& record) {
  Json json = Json::object();
  json.set("version", kTrialVersion);
  json.set("spec", trial_spec_to_json(record.spec));
  for (const TextField& field : kTexts) json.set(field.key, record.*field.member);
  json.set("exit_code", record.exit_code ? Json(*record.exit_code) : Json());
  json.set("uid", record.uid);
  for (const IntField& field : kInts) json.set(field.key, record.*field.member);
  for (const ShareField& field : kShares)
    json.set(field.key, record.*field.member ? Json(*(record.*field.member)) : Json());
  return json;
}

Result<TrialRecord> trial_from_json(const Json& json) {
  BENCHCTL_TRY(int64_t version, json.need_int("version"));
  if (version != kTrialVersion)
    return bad("of version " + std::to_string(version) + ", this benchctl speaks " + std::to_string(kTrialVersion));
  TrialRecord record;
  BENCHCTL_TRY(record.spec, trial_spec_from_json(json["spec"]));
  for (const TextField& field : kTexts) record.*field.member = json[field.key].as_string();
  if (record.verdict.empty()) return bad("without a verdict");
  const Json& exit_code = json["exit_code"];
  if (exit_code.is_int()) {
    if (exit_code.as_int() < 0 || exit_code.as_int() > 255) return bad("exit code outside 0..255");
    record.exit_code = static_cast<int>(exit_code.as_int());
  }
  int64_t uid = json["uid"].as_int();
  if (uid < 0 || uid > INT32_MAX) return bad("uid out of range");
  record.uid = static_cast<int>(uid);
  for (const IntField& field : kInts) {
    BENCHCTL_TRY(record.*field.member, json.need_int(field.key));
    if (record.*field.member < 0) return bad(std::string("with a negative ") + field.key);
  }
  for (const ShareField& field : kShares) {
    if (!json[field.key].is_number()) continue;
    record.*field.member = json[field.key].as_double();
    if (*(record.*field.member) < 0) return bad(std::string("with a negative ") + field.key);
  }
  return record;
}

}  // namespace benchctl
