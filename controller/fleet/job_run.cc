#include "controller/fleet/job_run.h"

#include <algorithm>
#include <utility>

#include "controller/fleet/machine_record.h"
#include "controller/fleet/times.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kStopMs = 5 * 60'000;
// How long the events may be silent before we ask whether the agent still lives.
constexpr int64_t kSilenceMs = 60'000;
constexpr int kAgentRestarts = 3;
constexpr int kStartTries = 3;
// How often a full disk of this computer is tried again.
constexpr Nanos kSpacePause = std::chrono::seconds(5);
// What a sealed round may bring: far above any round, far below a disk.
constexpr PackCaps kUnitCaps{.files = 50'000, .file_bytes = 256 << 20, .total_bytes = int64_t{2} << 30};

std::string trial_label(const FailedTrial& trial) {
  return trial.suite + (trial.point.empty() ? "" : " " + trial.point) + " " + trial.arm;
}

// Of our own disk, by the texts of the system and of SQLite.
bool out_of_space(const Error& error) {
  return error.message.find("No space left on device") != std::string::npos ||
         error.message.find("no space left") != std::string::npos;
}

FailedTrial describe_trial(const TrialSpec& spec) {
  return {spec.trial, spec.suite, spec.point, spec.arm, "", ""};
}

}  // namespace

JobRun::JobRun(const RunInput& input, RunWorld& world, int64_t machine_id, std::string name, Link& link, Steps& steps,
               MachineOutcome& outcome, MachineJob job, std::function<Status()> make_ready)
    : input_(input),
      world_(world),
      machine_id_(machine_id),
      name_(std::move(name)),
      link_(link),
      steps_(steps),
      outcome_(outcome),
      job_(std::move(job)),
      make_ready_(std::move(make_ready)) {
  for (const RoundSpec& round : job_.job.rounds)
    for (const TrialSpec& trial : round.trials) spec_of_[trial.trial] = &trial;
}

void JobRun::fail(const Error& error) {
  // After a wish to stop, operations fail because we ended them.
  if (world_.stop.requested()) return;
  outcome_.errors.push_back(error);
  say("failed: " + error.message);
}

Status JobRun::run(bool may_be_started, Deadline seal_at) {
  seal_at_ = seal_at;
  Status done = start_unless(may_be_started);
  if (done) done = follow(seal_at);
  for (const auto& [number, trial] : bad_) outcome_.failed.push_back(trial);
  return done;
}

Status JobRun::start_unless(bool may_be_started) {
  if (may_be_started) {
    auto state = link_.agent().state(input_.id, in(kShortCallMs));
    if (!state && state.error().kind == ErrorKind::kProvisioning && !world_.stop.requested()) {
      BENCHCTL_CHECK(reconnect_after(state.error()));
      state = link_.agent().state(input_.id, in(kShortCallMs));
    }
    if (!state && state.error().kind == ErrorKind::kProvisioning) return state.error();
    if (state && (state->running || state->done)) return {};
    // A machine whose run folder is not there says so by an error: then it was never started.
    BENCHCTL_CHECK(make_ready_());
  }
  return steps_.run("start", [&]() -> Status {
    // To start what runs already is nothing: an answer that was lost may be asked for again.
    for (int tries = 1;; ++tries) {
      auto started = link_.agent().start(job_.job, in(kTransferMs));
      if (started || started.error().kind != ErrorKind::kProvisioning || tries == kStartTries ||
          world_.stop.requested())
        return started;
      BENCHCTL_CHECK(reconnect_after(started.error()));
    }
  });
}

Status JobRun::follow(Deadline seal_at) {
  for (int restarts = 0;;) {
    auto done = link_.agent().follow(
        input_.id, last_event_ + 1, [this](const Event& event) { return on_event(event); }, in(kSilenceMs));
    if (done && *done) return {};
    if (world_.stop.requested()) return collect();
    if (!done) {
      if (done.error().kind != ErrorKind::kProvisioning) return done.error();
      world_.clock.sleep(std::chrono::seconds(1));
      BENCHCTL_CHECK(reconnect_after(done.error()));
    }
    if (seal_at.passed(world_.clock)) {
      BENCHCTL_CHECK(collect());
      return Error{
          ErrorKind::kInterrupted,
          "the time to live of the plan is over; what had finished is home: go on by benchctl resume " + input_.id};
    }
    auto state = link_.agent().state(input_.id, in(kShortCallMs));
    if (!state && state.error().kind == ErrorKind::kProvisioning) continue;  // follow() will tell, and is bounded
    if (!state) return state.error();
    if (state->running || state->done) continue;
    if (++restarts > kAgentRestarts)
      return Error{ErrorKind::kWorkload, "the agent ended " + std::to_string(restarts) + " times; see agent.log"};
    say("the agent is gone; starting it again, finished rounds stand");
    if (auto ready = make_ready_(); !ready) {
      if (ready.error().kind != ErrorKind::kProvisioning) return ready;
      continue;
    }
    if (auto started = link_.agent().start(job_.job, in(kShortCallMs));
        !started && started.error().kind != ErrorKind::kProvisioning)
      return started;
  }
}

// The running trial ends, everything sealed comes home.
Status JobRun::collect() {
  say("stopping: the running trial ends, finished rounds come home");
  collecting_ = true;
  Deadline end = in(kStopMs);
  while (true) {
    Status got = collect_once(end);
    if (got || got.error().kind != ErrorKind::kProvisioning || end.passed(world_.clock)) return got;
    world_.clock.sleep(std::chrono::seconds(1));
  }
}

Status JobRun::collect_once(Deadline end) {
  BENCHCTL_CHECK(link_.open(in(kConnectMs), false));
  BENCHCTL_CHECK(link_.agent().stop(input_.id, in(kShortCallMs)));
  auto done = link_.agent().follow(
      input_.id, last_event_ + 1, [this](const Event& event) { return on_event(event); }, end);
  if (!done) return done.error();
  return *done ? Status() : Error{ErrorKind::kProvisioning, "the agent did not stop within its time"};
}

Status JobRun::reconnect_after(const Error& lost) {
  say("connection lost (" + lost.message + "); connecting again");
  Deadline end = in(kBootMs);
  while (true) {
    auto opened = link_.open(end, !world_.stop.requested());
    if (opened || world_.stop.requested() || end.passed(world_.clock)) return opened;
    world_.clock.sleep(std::chrono::seconds(1));
  }
}

Status JobRun::on_event(const Event& event) {
  const Json& fields = event.fields;
  if (event.kind == "round_sealed") {
    auto round = std::find_if(job_.job.rounds.begin(), job_.job.rounds.end(),
                              [&](const RoundSpec& one) { return one.round == fields["round"].as_int(); });
    if (round == job_.job.rounds.end())
      return Error{ErrorKind::kInternal, "the agent sealed a round that we did not ask for"};
    BENCHCTL_CHECK(bring_home(fields, &*round));
  } else if (event.kind == "run_done") {
    BENCHCTL_CHECK(on_run_done(fields));
  } else if (event.kind == "disk_full") {
    fail(Error{ErrorKind::kWorkload, "the machine's disk is full: " + format_bytes(fields["free"].as_int()) +
                                         " free, " + format_bytes(fields["needed"].as_int()) +
                                         " needed; finished trials stand. Ask for a larger disk"});
  } else if (event.kind == "trial_started" || event.kind == "trial_finished") {
    BENCHCTL_CHECK(on_trial(event));
  } else if (event.kind == "waiting_quiet") {
    world_.progress.now(name_, "waiting until the machine is quiet");
  } else if (event.kind == "round_probe") {
    BENCHCTL_CHECK(world_.store.add_probe(machine_id_, probe_row(event)));
  } else if (event.kind == "point_repeated") {
    say("steal of " + sanitize(fields["steal_percent"].dump(), 20) + " % in trial " +
        std::to_string(fields["trial"].as_int()) + ": the whole point of this round is run again");
  } else if (event.kind == "repeats_used_up") {
    fail(Error{ErrorKind::kRejected,
               "quarantined: more than the plan's max_repeats of the rounds lost CPU time to "
               "neighbours; the numbers stand as they are and decide nothing"});
  } else if (event.kind == "quiet_proof") {
    BENCHCTL_CHECK(on_proof(event));
  }
  last_event_ = event.number;
  return {};
}

Status JobRun::on_trial(const Event& event) {
  const Json& fields = event.fields;
  auto spec = spec_of_.find(fields["trial"].as_int());
  if (spec == spec_of_.end()) return Error{ErrorKind::kInternal, "the agent speaks of a trial that we did not ask for"};
  FailedTrial trial = describe_trial(*spec->second);
  int round = spec->second->round;
  if (event.kind == "trial_started") {
    std::string where = round > 0 ? "round " + std::to_string(round) + "/" + std::to_string(input_.plan.schedule.runs)
                        : round == kTraceRound ? "trace"
                        : round == kInfoRound  ? "info"
                                               : "warm-up";
    world_.progress.now(name_, where + "  " + trial_label(trial) + (spec->second->aa_copy ? " (A/A copy)" : ""));
    return {};
  }
  std::string verdict = sanitize(fields["verdict"].as_string(), 40);
  if (verdict == "ok") {
    if (round > kInfoRound) ++outcome_.trials_ok;
    bad_.erase(trial.number);
  } else if (verdict != "stopped") {
    trial.verdict = verdict;
    trial.reason = sanitize(fields["reason"].as_string(), 400);
    say("trial " + std::to_string(trial.number) + " (" + trial_label(trial) + "): " + verdict + ": " + trial.reason);
    bad_[trial.number] = trial;
  }
  return {};
}

Status JobRun::on_proof(const Event& event) {
  Json proof = Json::object();
  proof.set("when", sanitize(event.fields["when"].as_string(), 20));
  proof.set("ok", event.fields["ok"].as_bool());
  proof.set("unix_ms", event.unix_ms);
  Json problems = Json::array();
  for (const std::string& problem : event.fields["problems"].as_strings()) problems.push(sanitize(problem, 400));
  proof.set("problems", std::move(problems));
  return add_proof(world_.store, machine_id_, std::move(proof));
}

Status JobRun::on_run_done(const Json& fields) {
  BENCHCTL_CHECK(bring_home(fields, nullptr));
  int64_t exit = fields["exit"].as_int(1);
  std::string reason = sanitize(fields["reason"].as_string(), 400);
  if (exit == 7 && collecting_) return {};  // as we asked it to
  if (exit == 5)
    fail(Error{ErrorKind::kRejected, reason});
  else if (exit != 0 && bad_.empty())
    fail(Error{exit == 7 ? ErrorKind::kInterrupted : ErrorKind::kWorkload, reason});
  return {};
}

Status JobRun::bring_home(const Json& sealed, const RoundSpec* round) {
  for (bool said = false;; said = true) {
    Status home = try_to_bring_home(sealed, round);
    if (home || !out_of_space(home.error()) || world_.stop.requested() || seal_at_.passed(world_.clock)) return home;
    if (!said)
      say("this computer's disk is full (" + home.error().message +
          "): free some space; the results wait on the machine until " +
          format_utc(world_.clock.unix_ms() +
                     std::chrono::duration_cast<std::chrono::milliseconds>(seal_at_.left(world_.clock)).count()));
    world_.clock.sleep(kSpacePause);
  }
}

Status JobRun::try_to_bring_home(const Json& sealed, const RoundSpec* round) {
  std::string unit = sealed["unit"].as_string();
  if (!valid_id(unit)) return Error{ErrorKind::kInternal, "the agent names a unit " + sanitize(unit, 80)};
  // One unit a round and one at the end: an agent that lies cannot fill our disk with more.
  constexpr int kFinal = INT32_MAX;
  if (unit_of_.emplace(round == nullptr ? kFinal : round->round, unit).first->second != unit)
    return Error{ErrorKind::kInternal, "the agent seals a round twice, as " + sanitize(unit, 80) + " now"};
  std::string relative = "machines/" + name_ + "/" + unit;
  return steps_.run(round == nullptr ? "pull" : unit, [&]() -> Status {
    std::string folder = input_.folder + "/" + relative;
    BENCHCTL_CHECK(link_.agent().pull_unit(input_.id, unit, folder, sealed["manifest_sha256"].as_string(), kUnitCaps,
                                           in(kTransferMs)));
    if (round == nullptr) {
      auto after = read_file(folder + "/facts.after.json", 4 << 20);
      if (after) BENCHCTL_CHECK(world_.store.machine_facts(machine_id_, MachineFacts{"", *after, "", "", ""}));
    }
    BENCHCTL_TRY(UnitResult result, world_.store.import_unit(machine_id_, UnitSource{unit, folder, {}, job_.expected}));
    note(result);
    if (round == nullptr) return evidence_.save(world_.store);
    evidence_.take(input_.id, folder, *round);
    if (round->round <= kInfoRound) return {};
    show_first_number(folder, *round);
    say(round->round > 0
            ? "round " + std::to_string(round->round) + " of " + std::to_string(input_.plan.schedule.runs) + " is home"
            : "a warm-up round is home");
    return evidence_.save(world_.store);
  });
}

// Whoever waits sees early that something real is being measured. Its own words are the report's business.
void JobRun::show_first_number(const std::string& folder, const RoundSpec& round) {
  if (first_number_shown_ || round.trials.empty()) return;
  auto text = newest_output(folder, round.trials.front().trial, 1 << 20);
  if (!text) return;
  auto lines = split(*text, '\n');
  if (lines.size() < 3) return;
  auto header = split(lines[0], ','), row = split(lines[lines.size() - 2], ',');
  for (auto [column, unit] : {std::pair("us_per_item", "µs per item"), std::pair("requests_per_second", "requests/s"),
                              std::pair("value", "")}) {
    auto at = std::find(header.begin(), header.end(), column);
    size_t index = static_cast<size_t>(at - header.begin());
    if (at == header.end() || index >= row.size()) continue;
    say("first number: " + sanitize(row[0], 100) + " " + sanitize(row[index], 40) + " " + unit +
        " (one run of the warm-up or of round 1: no statement yet)");
    first_number_shown_ = true;
    return;
  }
}

void JobRun::note(const UnitResult& result) {
  auto add = [&](const UnitResult::Note& note, const std::string& verdict) {
    auto spec = spec_of_.find(note.trial);
    FailedTrial trial =
        spec == spec_of_.end() ? FailedTrial{note.trial, "", "", "", "", ""} : describe_trial(*spec->second);
    trial.verdict = verdict;
    trial.reason = note.reason;
    say("trial " + std::to_string(note.trial) + " (" + trial_label(trial) + "): " + verdict + ": " + note.reason);
    bad_[note.trial] = trial;
    --outcome_.trials_ok;
  };
  for (const UnitResult::Note& one : result.malformed) add(one, "malformed");
  for (const UnitResult::Note& one : result.refused) add(one, "refused");
}

}  // namespace benchctl
