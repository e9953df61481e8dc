#include "tests/simulation/sim_machine.h"

#include <algorithm>
#include <cstdio>

#include "lib/sha256.h"
#include "lib/text.h"
#include "lib/wire/facts.h"
#include "lib/wire/harden.h"
#include "lib/wire/machine_build.h"
#include "lib/wire/trial.h"
#include "provisioning/cloud_init/ssh_identity.h"

namespace benchctl::simulation {
namespace {

constexpr Nanos kSecond = std::chrono::seconds(1);

std::string unit_of(int round) {
  char text[40];
  std::snprintf(text, sizeof text, round > 0 ? "round-%04d" : "round-w%03d", round > 0 ? round : -round);
  return text;
}

CommandResult said(std::string output) {
  CommandResult result;
  result.output = std::move(output);
  return result;
}

CommandResult refused(int code, std::string errors) {
  CommandResult result;
  result.exit_code = code;
  result.errors = std::move(errors);
  return result;
}

Result<std::string> all_of(const RunOptions& options) {
  std::string all;
  while (options.input) {
    BENCHCTL_TRY(std::string piece, options.input());
    if (piece.empty()) break;
    all += piece;
  }
  return all;
}

std::string word_after(const std::vector<std::string>& argv, const std::string& option) {
  for (size_t i = 0; i + 1 < argv.size(); ++i)
    if (argv[i] == option) return argv[i + 1];
  return "";
}

}  // namespace

SimMachine::SimMachine(std::string name, std::string host_key_line, Clock& clock, Faults& faults,
                       const std::string& mutant)
    : name_(std::move(name)),
      clock_(clock),
      faults_(faults),
      host_key_line_(std::move(host_key_line)),
      prints_wrong_(mutant == "value"),
      loses_builds_(mutant == "build") {
  model_ = faults.dice().below(2) == 0 ? "Simulated CPU 1" : "Simulated CPU 2";
  avx2_ = !faults.happens("requirements not met");
  ignores_stop_ = faults.happens("agent does not stop");
  has_compiler_ = !faults.happens("compiler missing");
  quiet_ = !faults.happens("cannot be made quiet");
  stays_quiet_ = !faults.happens("timer comes back");
}

std::string SimMachine::host_key_pin() const {
  auto pin = ssh_fingerprint(host_key_line_);
  return pin ? *pin : "";
}

bool SimMachine::reachable() {
  advance();
  return !dead_ && clock_.now() >= back_at_;
}

Result<CommandResult> SimMachine::run(const std::vector<std::string>& argv, const RunOptions& options,
                                      const std::function<bool()>& dropped) {
  advance();
  std::vector<std::string> words(argv.begin() + std::min<size_t>(argv.size(), 4), argv.end());  // after sh -c SCRIPT sh
  if (argv[0] == "sh") {
    const std::string& script = argv[2];
    if (script.find("ssh-keygen") != std::string::npos) return rotate_host_key();
    if (script.find("exec \"$2\" version") != std::string::npos) return probe(words);
    if (script.find("cat >\"$t\"") != std::string::npos) return upload(words, options);
    if (script.find("nohup setsid") != std::string::npos) return start(words, options);
  }
  if (argv[0] == "ls") return said(join(std::vector<std::string>(bundles_.begin(), bundles_.end()), "\n"));
  const std::string& verb = argv[1];
  if (verb == "unpack") {
    BENCHCTL_TRY(std::string ignored, all_of(options));
    bundles_.insert(argv[3]);
    return said("");
  }
  if (verb == "facts") return facts();
  if (verb == "build") return build(argv);
  if (verb == "state") return state();
  if (verb == "harden") return harden(argv[2]);
  if (verb == "events") return events(argv, options, dropped);
  if (verb == "pull") return pull(word_after(argv, "--unit"), options);
  if (verb == "stop") {
    if (!done_) stop_asked_ = !ignores_stop_;
    next_at_ = std::min(next_at_, clock_.now() + kSecond);
    return said("");
  }
  return refused(2, "the simulated machine has no command " + join(argv, " "));
}

CommandResult SimMachine::rotate_host_key() {
  std::string blob;  // digits are base64, too
  for (int i = 0; i < 4; ++i) blob += std::to_string(faults_.dice().next());
  host_key_line_ = "ssh-ed25519 " + blob.substr(0, 52) + " simulated";
  return said("{\"v1\":{\"errors\":[]}}\n" + host_key_line_ + "\n");
}

// $1 work folder, $2 agent, $3 sha256
CommandResult SimMachine::probe(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& bundle : bundles_) text += bundle + "\n";
  text += "--\n";
  if (agents_.count(words.at(2)) != 0) text += R"({"version":"sim","job":2,"event":1,"facts":1,"trial":1})";
  return said(text);
}

// $1 agent, $2 sha256
CommandResult SimMachine::upload(const std::vector<std::string>& words, const RunOptions& options) {
  auto bytes = all_of(options);
  if (!bytes || sha256_hex(*bytes) != words.at(1)) return refused(74, "the upload arrived damaged or cut");
  agents_.insert(words.at(1));
  return said(R"({"version":"sim","job":2,"event":1,"facts":1,"trial":1})");
}

CommandResult SimMachine::facts() {
  Json cpu = Json::object({{"architecture", "x86_64"}, {"cpus_usable", 2}, {"model_name", model_}});
  cpu.set("flags", avx2_ ? std::vector<std::string>{"fma", "avx2"} : std::vector<std::string>{"fma"});
  Json document = Json::object({{"version", kFactsVersion}, {"taken_unix_ms", clock_.unix_ms()}, {"cpu", cpu}});
  for (const char* group : {"virt", "memory", "kernel", "disk", "time", "os", "state", "agent"})
    document.set(group, Json::object());
  return said(document.dump());
}

// What is made is the same whenever it is made of the same; a second call finds it.
CommandResult SimMachine::build(const std::vector<std::string>& argv) {
  const std::string sources = word_after(argv, "--sources");
  if (bundles_.count(sources) == 0) return refused(2, "ship the bundle first");
  sources_.insert(sources);
  MachineBuild made;
  made.log = "$ sh build.sh\n";
  const std::string result = sha256_hex("built of " + sources + " for " + word_after(argv, "--isa") + " on " + name_);
  made.again = bundles_.count(result) != 0;
  if (!made.again && !has_compiler_) {
    made.tools_missing = true;
    made.why = "a C compiler is missing: apt-get install gcc";
  } else if (!made.again && faults_.happens("recipe fails")) {
    made.why = "exit code 1";
  } else {
    made.ok = true;
    made.sha256 = result;
    made.toolchains = "cc CC_VERSION=simulated 1\n";
    if (!loses_builds_) bundles_.insert(result);
  }
  return said(to_json(made).dump() + "\n");
}

CommandResult SimMachine::harden(const std::string& verb) {
  HardenReport report;
  report.verb = verb;
  report.profile = "simulated";
  report.proof.ok = quiet_;
  if (!quiet_) report.proof.problems = {"apt-daily.timer has a next run"};
  return said(to_json(report).dump());
}

CommandResult SimMachine::state() {
  if (!job_) return refused(1, "no such run");
  Json json = Json::object({{"running", running_}, {"pid", running_ ? Json(7) : Json()}});
  json.set("last_event", static_cast<int64_t>(events_.size()));
  json.set("done", done_);
  return said(json.dump());
}

// $1 agent, $2 run folder
CommandResult SimMachine::start(const std::vector<std::string>& words, const RunOptions& options) {
  auto text = all_of(options);
  if (!text) return refused(1, text.error().message);
  if (agents_.count(words.at(0).substr(words.at(0).rfind('-') + 1)) == 0) return refused(127, "no such agent");
  auto json = Json::parse(*text);
  auto job = json ? job_from_json(*json) : Result<Job>(json.error());
  if (!job) return refused(2, job.error().message);
  for (const RoundSpec& round : job->rounds)
    for (const TrialSpec& trial : round.trials)
      if (bundles_.count(trial.bundle) == 0 || sources_.count(trial.bundle) != 0)
        return refused(2, "the bundle of a trial is not here: " + trial.bundle);
  if (job_ && *text != job_text_) return refused(2, "another job is there under this run");
  if (!job_) {
    job_ = *job;
    job_text_ = *text;
  }
  if (running_ || done_) return said("");
  running_ = true;
  silent_ = false;
  at_ = At::kRound;
  next_at_ = clock_.now() + kSecond;
  current_ = Unit{};
  emit("agent_started", Json::object({{"version", "sim"}, {"boot_id", std::to_string(boots_)}}));
  return said("");
}

void SimMachine::emit(const std::string& kind, Json fields) {
  events_.push_back({static_cast<int64_t>(events_.size()) + 1, clock_.unix_ms(), kind, std::move(fields)});
}

void SimMachine::end_runner() {
  running_ = false;
  current_ = Unit{};
}

void SimMachine::advance() {
  while (running_ && !silent_ && next_at_ <= clock_.now()) step();
}

void SimMachine::step() {
  if (faults_.happens("machine dies")) dead_ = true;
  if (faults_.happens("machine reboots")) {
    ++boots_;
    back_at_ = clock_.now() + 30 * kSecond;
    return end_runner();
  }
  if (dead_ || faults_.happens("agent killed")) return end_runner();
  if (faults_.happens("agent falls silent")) {
    silent_ = true;
    return;
  }
  next_at_ += kSecond / 10;
  const auto& rounds = job_->rounds;
  switch (at_) {
    case At::kRound:
      begin_round();
      return;
    case At::kTrial: {
      if (stop_asked_) return seal_round(false);
      const TrialSpec& spec = rounds[round_].trials[trial_];
      emit("trial_started", Json::object({{"trial", spec.trial}, {"attempt", spec.attempt}}));
      next_at_ += (1 + faults_.dice().below(20)) * kSecond;
      at_ = At::kTrialEnd;
      return;
    }
    case At::kTrialEnd:
      return finish_trial();
    case At::kSeal:
      return seal_round(true);
  }
}

void SimMachine::begin_round() {
  for (round_ = 0; round_ < job_->rounds.size(); ++round_)
    if (sealed_names_.count(unit_of(job_->rounds[round_].round)) == 0) break;
  if (cut_short_) return finish(7, "stopped before all rounds were run");
  if (round_ == job_->rounds.size()) {
    if (job_->harden.as_object().empty()) return finish(0, "");
    emit("quiet_proof", Json::object({{"when", "end"}, {"ok", stays_quiet_}, {"problems", Json::array()}}));
    return finish(stays_quiet_ ? 0 : 5, stays_quiet_ ? "" : "a timer has come back");
  }
  if (stop_asked_) return finish(7, "stopped before all rounds were run");
  if (faults_.happens("disk full")) {
    emit("disk_full", Json::object({{"free", 1}, {"needed", 100}}));
    return finish(6, "disk full");
  }
  int round = job_->rounds[round_].round;
  emit("round_started", Json::object({{"round", round}, {"unit", unit_of(round)}}));
  ++begun_[round_];
  repeat_ = 0;
  stolen_ = false;
  trial_ = 0;
  at_ = At::kTrial;
}

void SimMachine::finish_trial() {
  TrialRecord record;
  record.spec = job_->rounds[round_].trials[trial_];
  record.spec.attempt += begun_[round_] - 1 + repeat_;
  record.started_unix_ms = clock_.unix_ms();
  record.wall_ns = kSecond.count();
  record.verdict = stop_asked_ ? "stopped" : faults_.happens("trial fails") ? "exit" : "ok";
  record.exit_code = record.verdict == "exit" ? 3 : 0;
  record.steal_percent = 0.0;
  if (job_->repeat_steal_percent > 0 && record.spec.round > 0 && faults_.happens("steal")) {
    record.steal_percent = 50.0;
    stolen_ = true;
  }
  bool torn = record.verdict == "ok" && faults_.happens("output torn");
  attempts_[{record.spec.trial, record.spec.attempt}] = {record.verdict, torn};

  char place[60];
  std::snprintf(place, sizeof place, "trials/%06d/a%d/", static_cast<int>(record.spec.trial), record.spec.attempt);
  char printed[120];
  std::snprintf(printed, sizeof printed, "case,metric,unit,value,better,check\nrun,time,ms,%.0f,lower,abc%s",
                value_of(record.spec.trial, record.spec.attempt) + (prints_wrong_ ? 1 : 0), torn ? "" : "\n");
  for (const auto& [file, text] : {std::pair<std::string, std::string>{"stderr", ""},
                                   {"stdout", printed},
                                   {"trial.json", to_json(record).dump()}}) {
    current_.entries.push_back({place + file, sha256_hex(text), static_cast<int64_t>(text.size()), false});
    current_.bytes += text;
  }
  Json fields = Json::object({{"trial", record.spec.trial}, {"attempt", record.spec.attempt}});
  fields.set("verdict", record.verdict);
  fields.set("reason", record.verdict == "ok" ? "" : "simulated");
  emit("trial_finished", std::move(fields));
  if (stop_asked_) return seal_round(false);
  at_ = At::kTrial;
  if (++trial_ < job_->rounds[round_].trials.size()) return;
  at_ = At::kSeal;
  if (!stolen_ || repeats_ >= job_->max_repeats) return;
  ++repeats_;
  ++repeat_;
  stolen_ = false;
  trial_ = 0;
  at_ = At::kTrial;
  emit("point_repeated", Json::object({{"round", record.spec.round}, {"steal_percent", 50.0}}));
}

void SimMachine::seal_round(bool complete) {
  cut_short_ = cut_short_ || !complete;
  int round = job_->rounds[round_].round;
  std::string unit = unit_of(round);
  // Sorted by path, as the pack wants them; the bytes follow the same order.
  Unit sorted;
  std::vector<std::pair<PackEntry, std::string>> files;
  size_t at = 0;
  for (const PackEntry& entry : current_.entries) {
    files.emplace_back(entry, current_.bytes.substr(at, static_cast<size_t>(entry.size)));
    at += static_cast<size_t>(entry.size);
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.first.path < b.first.path; });
  for (const auto& [entry, bytes] : files) {
    sorted.entries.push_back(entry);
    sorted.bytes += bytes;
  }
  units_[unit] = std::move(sorted);
  sealed_names_.insert(unit);
  current_ = Unit{};
  std::string manifest = sha256_hex(format_manifest(units_[unit].entries));
  if (faults_.happens("manifest lies")) manifest = std::string(64, '0');
  emit("round_sealed", Json::object({{"round", faults_.happens("event of a stranger") ? 777 : round},
                                     {"unit", unit},
                                     {"manifest_sha256", manifest},
                                     {"complete", complete}}));
  at_ = At::kRound;
}

void SimMachine::finish(int exit, const std::string& reason) {
  Unit final_unit;
  std::string text = facts().output;
  final_unit.entries.push_back({"facts.after.json", sha256_hex(text), static_cast<int64_t>(text.size()), false});
  final_unit.bytes = text;
  units_["final"] = final_unit;
  sealed_names_.insert("final");
  emit("run_done", Json::object({{"exit", exit},
                                 {"reason", reason},
                                 {"unit", "final"},
                                 {"manifest_sha256", sha256_hex(format_manifest(final_unit.entries))}}));
  running_ = false;
  done_ = true;
}

Result<CommandResult> SimMachine::events(const std::vector<std::string>& argv, const RunOptions& options,
                                         const std::function<bool()>& dropped) {
  if (!job_) return refused(1, "no such run");
  auto from = parse_int(word_after(argv, "--from"));
  auto follow = parse_int(word_after(argv, "--follow"));
  Deadline end = Deadline::in(clock_, follow.value_or(0) * kSecond);
  size_t next = static_cast<size_t>(std::max<int64_t>(1, from.value_or(1))) - 1;
  bool ran = running_;
  while (true) {
    for (; next < events_.size(); ++next) {
      std::string line = event_line(events_[next]);
      if (faults_.happens("event torn")) line = line.substr(0, line.size() / 2) + "\n";
      BENCHCTL_CHECK(options.on_output(line));
      if (dropped()) return Error{ErrorKind::kProvisioning, "the link is gone"};
    }
    if (done_ || end.passed(clock_) || (ran && !running_)) return said("");
    ran = running_;
    Nanos pause = end.left(clock_);
    if (running_ && !silent_ && next_at_ > clock_.now()) pause = std::min(pause, next_at_ - clock_.now());
    clock_.sleep(std::max<Nanos>(pause, std::chrono::milliseconds(1)));
    advance();
    if (dropped()) return Error{ErrorKind::kProvisioning, "the link is gone"};
  }
}

Result<CommandResult> SimMachine::pull(const std::string& name, const RunOptions& options) {
  auto found = units_.find(name);
  if (found == units_.end()) return refused(3, "not sealed yet");
  std::string pack = format_manifest(found->second.entries) + "\n" + found->second.bytes;
  size_t half = pack.size() / 2;
  BENCHCTL_CHECK(options.on_output(pack.substr(0, half)));
  if (faults_.happens("link cut inside an answer"))
    return Error{ErrorKind::kProvisioning, "the link was cut in the middle"};
  BENCHCTL_CHECK(options.on_output(pack.substr(half)));
  return said("");
}

}  // namespace benchctl::simulation
