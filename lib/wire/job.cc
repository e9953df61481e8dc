#include "lib/wire/job.h"

namespace benchctl {
namespace {

Json to_json(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json.set(key, value);
  return json;
}

std::map<std::string, std::string> string_map(const Json& json) {
  std::map<std::string, std::string> map;
  for (const auto& [key, value] : json.as_object()) map[key] = value.as_string();
  return map;
}

Error bad(const std::string& what) {
  return Error{ErrorKind::kInternal, "job: " + what};
}

}  // namespace

Json trial_spec_to_json(const TrialSpec& spec) {
  Json json = Json::object();
  json.set("trial", spec.trial);
  json.set("attempt", spec.attempt);
  json.set("suite", spec.suite);
  json.set("point", spec.point);
  json.set("arm", spec.arm);
  json.set("aa_copy", spec.aa_copy);
  json.set("round", spec.round);
  json.set("position", spec.position);
  json.set("format", spec.format);
  json.set("definition_hash", spec.definition_hash);
  json.set("params", to_json(spec.params));
  json.set("bundle", spec.bundle);
  Json phases = Json::array();
  for (const Phase& phase : spec.phases) {
    Json one = Json::object();
    one.set("name", phase.name);
    one.set("argv", phase.argv);
    phases.push(std::move(one));
  }
  json.set("phases", std::move(phases));
  json.set("env", to_json(spec.env));
  json.set("timeout_ms", spec.timeout_ms);
  return json;
}

Result<TrialSpec> trial_spec_from_json(const Json& json) {
  TrialSpec spec;
  BENCHCTL_TRY(spec.trial, json.need_int("trial"));
  if (spec.trial < 1 || spec.trial > 999'999) return bad("trial number outside 1..999999");
  BENCHCTL_TRY(spec.suite, json.need_string("suite"));
  BENCHCTL_TRY(spec.arm, json.need_string("arm"));
  BENCHCTL_TRY(int64_t round, json.need_int("round"));
  BENCHCTL_TRY(int64_t attempt, json.need_int("attempt"));
  if (attempt < 1 || attempt > 99 || round < -1000 || round > 100'000) return bad("round or attempt out of range");
  spec.round = static_cast<int>(round);
  spec.attempt = static_cast<int>(attempt);
  spec.point = json["point"].as_string();
  spec.aa_copy = json["aa_copy"].as_bool();
  spec.position = static_cast<int>(json["position"].as_int());
  spec.format = json["format"].as_string();
  spec.definition_hash = json["definition_hash"].as_string();
  spec.params = string_map(json["params"]);
  spec.bundle = json["bundle"].as_string();
  for (const Json& one : json["phases"].as_array()) {
    Phase phase{one["name"].as_string(), one["argv"].as_strings()};
    if (phase.argv.empty()) return bad("a phase without a command");
    spec.phases.push_back(std::move(phase));
  }
  if (spec.phases.empty()) return bad("a trial without phases");
  spec.env = string_map(json["env"]);
  spec.timeout_ms = json["timeout_ms"].as_int();
  if (spec.timeout_ms <= 0) return bad("a trial without a timeout");
  return spec;
}

Json to_json(const RoundSpec& round) {
  Json json = Json::object();
  json.set("round", round.round);
  Json trials = Json::array();
  for (const TrialSpec& spec : round.trials) trials.push(trial_spec_to_json(spec));
  json.set("trials", std::move(trials));
  return json;
}

Result<RoundSpec> round_from_json(const Json& json) {
  RoundSpec round;
  BENCHCTL_TRY(int64_t number, json.need_int("round"));
  round.round = static_cast<int>(number);
  for (const Json& trial : json["trials"].as_array()) {
    BENCHCTL_TRY(TrialSpec spec, trial_spec_from_json(trial));
    if (spec.round != round.round) return bad("a trial of another round");
    round.trials.push_back(std::move(spec));
  }
  return round;
}

Json to_json(const Job& job) {
  Json json = Json::object();
  json.set("version", job.version);
  json.set("run", job.run);
  json.set("machine", job.machine);
  json.set("seed", job.seed & INT64_MAX);
  json.set("cpus", job.cpus);
  json.set("bundles_dir", job.bundles_dir);
  json.set("linger_ms", job.linger_ms);
  json.set("ack_wait_ms", job.ack_wait_ms);
  json.set("stdout_cap", job.stdout_cap);
  json.set("min_free_bytes", job.min_free_bytes);
  json.set("memory_bytes", job.memory_bytes);
  json.set("max_pids", job.max_pids);
  json.set("max_other_busy", job.max_other_busy);
  json.set("quiet_wait_ms", job.quiet_wait_ms);
  Json rounds = Json::array();
  for (const RoundSpec& round : job.rounds) rounds.push(to_json(round));
  json.set("rounds", std::move(rounds));
  return json;
}

Result<Job> job_from_json(const Json& json) {
  Job job;
  BENCHCTL_TRY(int64_t version, json.need_int("version"));
  if (version != kJobVersion)
    return bad("version " + std::to_string(version) + ", this agent speaks version " + std::to_string(kJobVersion) +
               "; agent and controller must come from one build");
  BENCHCTL_TRY(job.run, json.need_string("run"));
  BENCHCTL_TRY(job.machine, json.need_string("machine"));
  job.seed = static_cast<uint64_t>(json["seed"].as_int());
  job.cpus = json["cpus"].as_string();
  job.bundles_dir = json["bundles_dir"].as_string();
  job.linger_ms = json["linger_ms"].as_int(job.linger_ms);
  job.ack_wait_ms = json["ack_wait_ms"].as_int(job.ack_wait_ms);
  job.stdout_cap = json["stdout_cap"].as_int(job.stdout_cap);
  job.min_free_bytes = json["min_free_bytes"].as_int(job.min_free_bytes);
  job.memory_bytes = json["memory_bytes"].as_int(job.memory_bytes);
  job.max_pids = json["max_pids"].as_int(job.max_pids);
  job.max_other_busy = json["max_other_busy"].as_double(job.max_other_busy);
  job.quiet_wait_ms = json["quiet_wait_ms"].as_int(job.quiet_wait_ms);
  for (const Json& one : json["rounds"].as_array()) {
    BENCHCTL_TRY(RoundSpec round, round_from_json(one));
    job.rounds.push_back(std::move(round));
  }
  return job;
}

}  // namespace benchctl
