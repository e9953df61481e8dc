#include "lib/wire/job.h"

#include <algorithm>

namespace benchctl {
namespace {

Json to_json(const std::map<std::string, std::string>& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json.set(key, value);
  return json;
}

Error bad(const std::string& what) {
  return Error{ErrorKind::kInternal, "job: " + what};
}

// A value that is no text is refused: dropped, it would silently change what is run.
Result<std::map<std::string, std::string>> string_map(const Json& json, const std::string& name) {
  std::map<std::string, std::string> map;
  for (const auto& [key, value] : json.as_object()) {
    if (!value.is_string()) return bad("a value in \"" + name + "\" that is no text");
    map[key] = value.as_string();
  }
  return map;
}

Result<int> round_number(const Json& json) {
  BENCHCTL_TRY(int64_t round, json.need_int("round"));
  if (round < -1000 || round > 100'000) return bad("round outside -1000..100000");
  return static_cast<int>(round);
}

Result<Phase> phase_from_json(const Json& json) {
  static constexpr std::string_view kNames[] = {"setup", "run", "check", "cleanup"};
  Phase phase{json["name"].as_string(), json["argv"].as_strings()};
  if (std::find(std::begin(kNames), std::end(kNames), phase.name) == std::end(kNames))
    return bad("a phase that is none of setup, run, check, cleanup");
  if (phase.argv.empty()) return bad("a phase without a command");
  if (phase.argv.size() != json["argv"].as_array().size()) return bad("an argument that is no text");
  return phase;
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
  BENCHCTL_TRY(spec.round, round_number(json));
  BENCHCTL_TRY(int64_t attempt, json.need_int("attempt"));
  if (attempt < 1 || attempt > 99) return bad("attempt outside 1..99");
  spec.attempt = static_cast<int>(attempt);
  spec.point = json["point"].as_string();
  spec.aa_copy = json["aa_copy"].as_bool();
  int64_t position = json["position"].as_int();
  if (position < 0 || position > 100'000) return bad("position outside 0..100000");
  spec.position = static_cast<int>(position);
  spec.format = json["format"].as_string();
  spec.definition_hash = json["definition_hash"].as_string();
  BENCHCTL_TRY(spec.params, string_map(json["params"], "params"));
  spec.bundle = json["bundle"].as_string();
  for (const Json& one : json["phases"].as_array()) {
    BENCHCTL_TRY(Phase phase, phase_from_json(one));
    spec.phases.push_back(std::move(phase));
  }
  if (spec.phases.empty()) return bad("a trial without phases");
  BENCHCTL_TRY(spec.env, string_map(json["env"], "env"));
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
  BENCHCTL_TRY(round.round, round_number(json));
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
  json.set("repeat_steal_percent", job.repeat_steal_percent);
  json.set("max_repeats", job.max_repeats);
  json.set("probe_ms", job.probe_ms);
  json.set("harden", job.harden);
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
  job.repeat_steal_percent = json["repeat_steal_percent"].as_double(0);
  job.max_repeats = json["max_repeats"].as_int();
  job.probe_ms = json["probe_ms"].as_int();
  if (json["harden"].is_object()) job.harden = json["harden"];
  for (const Json& one : json["rounds"].as_array()) {
    BENCHCTL_TRY(RoundSpec round, round_from_json(one));
    job.rounds.push_back(std::move(round));
  }
  return job;
}

}  // namespace benchctl
