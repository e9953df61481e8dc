#include "controller/fleet/slot.h"

#include <algorithm>

#include "controller/fleet/requirements.h"
#include "lib/text.h"
#include "provisioning/cloud_init/rotate_host_key.h"
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/cloud_init/user_data.h"
#include "provisioning/lifecycle.h"

namespace benchctl {
namespace {

// Bounds for one operation each; a slow cloud needs minutes to boot, nothing else here takes more than seconds.
constexpr int64_t kBootMs = 5 * 60'000;
constexpr int64_t kConnectMs = 60'000;
constexpr int64_t kShortCallMs = 60'000;
constexpr int64_t kTransferMs = 10 * 60'000;
constexpr int64_t kReleaseMs = 5 * 60'000;
// How long the events may be silent before we ask whether the agent still lives.
constexpr int64_t kSilenceMs = 60'000;
constexpr int kAgentRestarts = 3;
// Trial numbers are unique in a run: each machine has a range of its own, with the evidence at its end.
constexpr int64_t kTrialsPerMachine = 10'000;
constexpr int64_t kEvidenceTrials = 500;
// What a sealed round may bring: far above any round, far below a disk.
constexpr PackCaps kUnitCaps{.files = 50'000, .file_bytes = 256 << 20, .total_bytes = int64_t{2} << 30};

std::string trial_label(const FailedTrial& trial) {
  return trial.suite + (trial.point.empty() ? "" : " " + trial.point) + " " + trial.arm;
}

}  // namespace

Slot::Slot(const RunInput& input, RunWorld& world, std::string fleet_name, const Fleet& fleet, int index_in_fleet,
           int index_in_run)
    : input_(input),
      world_(world),
      fleet_name_(std::move(fleet_name)),
      fleet_(fleet),
      index_in_run_(index_in_run),
      link_(world.connector, world.clock, world.stop) {
  lease_.nonce = random_hex(6);
  lease_.run = input.id;
  lease_.fleet = fleet_name_;
  lease_.slot = index_in_fleet;
  lease_.name = "bc-" + lease_.nonce;
  lease_.expires_unix = world.clock.unix_ms() / 1000 + input.plan.limits.ttl_ms / 1000;
  outcome_.machine = lease_.name;
  provider_ = world.provider(fleet.spec.provider);
  isolated_ = provider_ != nullptr && provider_->capabilities().isolated;
}

void Slot::fail(const Error& error) {
  // After a wish to stop, operations fail because we ended them.
  if (world_.stop.requested() && error.kind != ErrorKind::kLeaked) return;
  outcome_.errors.push_back(error);
  say("failed: " + error.message);
}

void Slot::prepare() {
  if (world_.stop.requested()) return;
  ttl_ = in(input_.plan.limits.ttl_ms);
  if (auto made = make_machine(); !made) return fail(made.error());
  const std::pair<const char*, Status (Slot::*)()> steps[] = {
      {"connect", &Slot::reach_machine}, {"facts", &Slot::look_at_machine}, {"equip", &Slot::equip_machine}};
  for (const auto& step : steps) {
    if (world_.stop.requested()) return;
    auto done = steps_->run(step.first, [&] { return (this->*step.second)(); });
    if (!done) return fail(done.error());
  }
  ready_ = true;
}

Status Slot::make_machine() {
  if (provider_ == nullptr) return Error{ErrorKind::kUsage, "provider " + fleet_.spec.provider + " is not available"};
  BENCHCTL_TRY(lease_.owner, world_.store.owner());
  BENCHCTL_TRY(machine_id_, world_.store.add_lease(lease_, fleet_.spec, isolated_));
  steps_.emplace(world_.store, world_.failpoints, machine_id_, [this] { return link_.counts().channels; });
  return steps_->run("create", [&]() -> Status {
    world_.progress.now(lease_.name, "making the machine");
    Bootstrap bootstrap;
    std::string pin;
    if (provider_->capabilities().disposable) {
      BENCHCTL_TRY(SshIdentity host, world_.make_identity());
      BENCHCTL_TRY(pin, ssh_fingerprint(host.public_key));
      bootstrap = make_bootstrap(host, input_.identity.public_key);
    }
    BENCHCTL_CHECK(world_.store.set_host_key(machine_id_, pin));
    Nanos begin = world_.clock.now();
    auto made = acquire(*provider_, fleet_.spec, lease_, bootstrap, world_.clock, in(kBootMs));
    if (!made) return made.error();
    machine_ = *made;
    BENCHCTL_CHECK(world_.store.machine_created(machine_id_, machine_->id, machine_->endpoint));
    link_.target(*machine_->endpoint, input_.identity, pin);
    say("machine made in " + format_seconds(std::chrono::duration<double>(world_.clock.now() - begin).count()));
    return {};
  });
}

Status Slot::reach_machine() {
  world_.progress.now(lease_.name,
                      provider_->capabilities().disposable ? "waiting for ssh" : "looking at this computer");
  Nanos begin = world_.clock.now();
  BENCHCTL_CHECK(link_.open(in(kBootMs), true));
  if (!provider_->capabilities().disposable) return {};
  // The first key travelled in user-data, which every process of a cloud machine can read: it is good for this one
  // connection only.
  BENCHCTL_TRY(std::string pin, rotate_host_key(link_.transport(), world_.clock, in(kBootMs)));
  BENCHCTL_CHECK(world_.store.set_host_key(machine_id_, pin));
  link_.pin(pin);
  BENCHCTL_CHECK(link_.open(in(kConnectMs), true));
  say("reached by ssh, host key renewed, after " +
      format_seconds(std::chrono::duration<double>(world_.clock.now() - begin).count()));
  return {};
}

Status Slot::look_at_machine() {
  BENCHCTL_TRY(Installed agent, link_.agent().install_agent(input_.agent_binary, in(kTransferMs)));
  link_.use_agent(agent.sha256);
  BENCHCTL_TRY(facts_, link_.agent().facts(in(kShortCallMs)));
  MachineFacts rows{facts_.document.dump(), "", fingerprint(facts_), hardware_key(facts_)};
  BENCHCTL_CHECK(world_.store.machine_facts(machine_id_, rows));
  if (auto met = meets(fleet_.require, facts_); !met) {
    BENCHCTL_CHECK(world_.store.machine_state(machine_id_, MachineRowState::kRejected, met.error().message));
    return met.error();
  }
  say(describe(facts_));
  return {};
}

Status Slot::equip_machine() {
  std::map<std::string, const LocalBundle*> distinct;
  for (const auto& [arm, bundle] : input_.bundles) distinct[bundle.sha256] = &bundle;
  for (const auto& [sha256, bundle] : distinct) {
    BENCHCTL_TRY(Installed installed, link_.agent().install_bundle(bundle->folder, in(kTransferMs)));
    if (installed.sha256 != sha256)
      return Error{ErrorKind::kInternal, bundle->folder + " changed after it was built: build it again"};
    if (installed.uploaded) say("shipped " + format_bytes(installed.bytes) + " of workloads");
  }
  return build_job();
}

Status Slot::build_job() {
  MachineShape shape;
  shape.cpus = static_cast<int>(std::max<int64_t>(1, facts_.get("cpu", "cpus_usable").as_int(1)));
  shape.arch = facts_.text("cpu", "architecture");
  shape.index = index_in_run_;
  shape.first_trial = int64_t{index_in_run_} * kTrialsPerMachine + 1;
  BENCHCTL_TRY(Expansion expansion, expand(input_.plan, input_.workloads, shape));
  std::map<std::string, std::string> sha256_of_key;
  for (const auto& [key, bundle] : input_.bundles) sha256_of_key[key] = bundle.sha256;
  BENCHCTL_CHECK(set_bundles(expansion, sha256_of_key));

  std::map<std::string, std::string> hash_of;  // of a point, by suite and label
  for (const Point& point : expansion.points) {
    const Suite& suite = input_.plan.suites[point.suite];
    hash_of[suite.name + "\n" + point.label] = point.hash;
    Json params = Json::object();
    for (const auto& [key, value] : point.params) params.set(key, value);
    BENCHCTL_CHECK(world_.store.save_point(
        {point.hash, suite.name, suite.workload, suite.mode, point.label, suite.baseline, params}));
  }

  job_.run = input_.id;
  job_.machine = lease_.name;
  job_.seed = input_.plan.schedule.seed;
  // All rounds are in the job: with nothing to do the agent has nothing to wait for.
  job_.linger_ms = 0;
  job_.bundles_dir = link_.agent().bundles_dir();
  job_.rounds = evidence_rounds(expansion, input_, shape.first_trial + kTrialsPerMachine - kEvidenceTrials);
  for (RoundSpec& round : expansion.rounds) job_.rounds.push_back(std::move(round));
  for (const RoundSpec& round : job_.rounds) {
    for (const TrialSpec& trial : round.trials) {
      spec_of_[trial.trial] = &trial;
      expected_.push_back({trial, hash_of.at(trial.suite + "\n" + trial.point)});
    }
  }
  return world_.store.set_agent_dir(machine_id_, link_.agent().run_dir(input_.id));
}

void Slot::measure() {
  if (!ready_ || world_.stop.requested()) return;
  auto measured = [&]() -> Status {
    if (isolated_) return run_job();
    world_.progress.now(lease_.name, "waiting for its turn on this computer");
    BENCHCTL_TRY(FileLock turn, world_.host_turn(ttl_));
    return run_job();
  }();
  if (!measured) fail(measured.error());
  for (const auto& [number, trial] : bad_) outcome_.failed.push_back(trial);
}

Status Slot::run_job() {
  BENCHCTL_CHECK(steps_->run("start", [&] { return link_.agent().start(job_, in(kTransferMs)); }));
  for (int restarts = 0;;) {
    auto done = link_.agent().follow(
        input_.id, last_event_ + 1, [this](const Event& event) { return on_event(event); }, in(kSilenceMs));
    if (done && *done) return {};
    if (ttl_.passed(world_.clock))
      return Error{ErrorKind::kInterrupted, "the time to live of the plan is over; what had finished is kept"};
    if (world_.stop.requested()) return follow_to_the_end(in(kReleaseMs));
    if (!done) {
      if (done.error().kind != ErrorKind::kProvisioning) return done.error();
      say("connection lost (" + done.error().message + "); connecting again");
      BENCHCTL_CHECK(reconnect());
    }
    BENCHCTL_TRY(AgentState state, link_.agent().state(input_.id, in(kShortCallMs)));
    if (state.running || state.done) continue;
    if (++restarts > kAgentRestarts)
      return Error{ErrorKind::kWorkload, "the agent ended " + std::to_string(restarts) + " times; see agent.log"};
    say("the agent is gone; starting it again, finished rounds stand");
    BENCHCTL_CHECK(link_.agent().start(job_, in(kShortCallMs)));
  }
}

// After a wish to stop: the running trial ends, everything sealed comes home.
Status Slot::follow_to_the_end(Deadline end) {
  say("stopping: the running trial ends, finished rounds come home");
  BENCHCTL_CHECK(link_.open(in(kConnectMs), false));
  BENCHCTL_CHECK(link_.agent().stop(input_.id, in(kShortCallMs)));
  auto done = link_.agent().follow(
      input_.id, last_event_ + 1, [this](const Event& event) { return on_event(event); }, end);
  if (!done) return done.error();
  return *done ? Status() : Error{ErrorKind::kProvisioning, "the agent did not stop within its time"};
}

Status Slot::reconnect() {
  Deadline end = in(kBootMs);
  while (true) {
    auto opened = link_.open(end, !world_.stop.requested());
    if (opened || world_.stop.requested() || end.passed(world_.clock)) return opened;
    world_.clock.sleep(std::chrono::seconds(1));
  }
}

Status Slot::on_event(const Event& event) {
  const Json& fields = event.fields;
  if (event.kind == "round_sealed") {
    auto round = std::find_if(job_.rounds.begin(), job_.rounds.end(),
                              [&](const RoundSpec& one) { return one.round == fields["round"].as_int(); });
    if (round == job_.rounds.end())
      return Error{ErrorKind::kInternal, "the agent sealed a round that we did not ask for"};
    BENCHCTL_CHECK(bring_home(fields, &*round));
  } else if (event.kind == "run_done") {
    BENCHCTL_CHECK(bring_home(fields, nullptr));
    int64_t exit = fields["exit"].as_int(1);
    std::string reason = sanitize(fields["reason"].as_string(), 400);
    if (exit == 5)
      fail(Error{ErrorKind::kRejected, reason});
    else if (exit != 0 && bad_.empty())
      fail(Error{exit == 7 ? ErrorKind::kInterrupted : ErrorKind::kWorkload, reason});
  } else if (event.kind == "disk_full") {
    fail(Error{ErrorKind::kWorkload, "the machine's disk is full: " + format_bytes(fields["free"].as_int()) +
                                         " free, " + format_bytes(fields["needed"].as_int()) +
                                         " needed; finished trials stand. Ask for a larger disk"});
  } else if (event.kind == "trial_started" || event.kind == "trial_finished") {
    auto spec = spec_of_.find(fields["trial"].as_int());
    if (spec == spec_of_.end())
      return Error{ErrorKind::kInternal, "the agent speaks of a trial that we did not ask for"};
    FailedTrial trial{spec->first, spec->second->suite, spec->second->point, spec->second->arm, "", ""};
    if (event.kind == "trial_started") {
      int round = spec->second->round;
      std::string where = round > 0 ? "round " + std::to_string(round) + "/" + std::to_string(input_.plan.schedule.runs)
                          : round == kTraceRound ? "trace"
                          : round == kInfoRound  ? "info"
                                                 : "warm-up";
      world_.progress.now(lease_.name, where + "  " + trial_label(trial));
    } else if (std::string verdict = sanitize(fields["verdict"].as_string(), 40); verdict == "ok") {
      if (spec->second->round > kInfoRound) ++outcome_.trials_ok;
      bad_.erase(trial.number);
    } else if (verdict != "stopped") {
      trial.verdict = verdict;
      trial.reason = sanitize(fields["reason"].as_string(), 400);
      say("trial " + std::to_string(trial.number) + " (" + trial_label(trial) + "): " + verdict + ": " + trial.reason);
      bad_[trial.number] = trial;
    }
  } else if (event.kind == "waiting_quiet") {
    world_.progress.now(lease_.name, "waiting until the machine is quiet");
  }
  last_event_ = event.number;
  return {};
}

Status Slot::bring_home(const Json& sealed, const RoundSpec* round) {
  std::string unit = sealed["unit"].as_string();
  if (!valid_id(unit)) return Error{ErrorKind::kInternal, "the agent names a unit " + sanitize(unit, 80)};
  std::string relative = "machines/" + lease_.name + "/" + unit;
  return steps_->run(round == nullptr ? "pull" : unit, [&]() -> Status {
    std::string folder = input_.folder + "/" + relative;
    BENCHCTL_CHECK(link_.agent().pull_unit(input_.id, unit, folder, sealed["manifest_sha256"].as_string(), kUnitCaps,
                                           in(kTransferMs)));
    if (round == nullptr) {
      auto after = read_file(folder + "/facts.after.json", 4 << 20);
      if (after) BENCHCTL_CHECK(world_.store.machine_facts(machine_id_, MachineFacts{"", *after, "", ""}));
    }
    BENCHCTL_TRY(UnitResult result, world_.store.import_unit(machine_id_, UnitSource{unit, folder, {}, expected_}));
    note(result);
    if (round != nullptr) show_first_number(folder, *round);
    if (round != nullptr && round->round > kInfoRound)
      say(round->round > 0 ? "round " + std::to_string(round->round) + " of " +
                                 std::to_string(input_.plan.schedule.runs) + " is home"
                           : "a warm-up round is home");
    return take_evidence(folder, round);
  });
}

// Whoever waits sees early that something real is being measured. Its own words are the report's business.
void Slot::show_first_number(const std::string& folder, const RoundSpec& round) {
  if (first_number_shown_ || round.round <= kInfoRound || round.trials.empty()) return;
  char place[64];
  std::snprintf(place, sizeof place, "/trials/%06d/a1/stdout", static_cast<int>(round.trials.front().trial));
  auto text = read_file(folder + place, 1 << 20);
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

Status Slot::take_evidence(const std::string& folder, const RoundSpec* round) {
  if (round != nullptr && round->round <= kInfoRound) {
    evidence_.take(input_.id, folder, *round);
    return {};
  }
  return evidence_.save(world_.store);
}

void Slot::note(const UnitResult& result) {
  auto add = [&](const UnitResult::Note& note, const std::string& verdict) {
    auto spec = spec_of_.find(note.trial);
    FailedTrial trial{note.trial, "", "", "", verdict, note.reason};
    if (spec != spec_of_.end())
      trial = {note.trial, spec->second->suite, spec->second->point, spec->second->arm, verdict, note.reason};
    say("trial " + std::to_string(note.trial) + " (" + trial_label(trial) + "): " + verdict + ": " + note.reason);
    bad_[note.trial] = trial;
    --outcome_.trials_ok;
  };
  for (const UnitResult::Note& one : result.malformed) add(one, "malformed");
  for (const UnitResult::Note& one : result.refused) add(one, "refused");
}

void Slot::release() {
  if (machine_id_ == 0) return;
  link_.close();
  if (input_.keep_ms > 0 && machine_) {
    int64_t until = world_.clock.unix_ms() + input_.keep_ms;
    if (auto kept = world_.store.set_keep(machine_id_, until); !kept) fail(kept.error());
    say("kept until " + format_utc(until) + "; reach it by: benchctl machine ssh " + lease_.name);
    return;
  }
  Machine target =
      machine_.value_or(Machine{fleet_.spec.provider, "", lease_.name, lease_.nonce, lease_.run, lease_.owner});
  std::optional<Status> removed;
  auto remove = [&]() -> Status {
    world_.progress.now(lease_.name, "removing the machine");
    removed = benchctl::release(*provider_, target, world_.clock, in(kReleaseMs));
    return *removed;
  };
  auto noted = steps_->run("destroy", [&]() -> Status {
    BENCHCTL_CHECK(world_.store.machine_state(machine_id_, MachineRowState::kReleasing));
    BENCHCTL_CHECK(remove());
    return world_.store.machine_state(machine_id_, MachineRowState::kGone);
  });
  // A store that cannot be written (a full disk) is no reason to leave a machine behind.
  if (!removed) (void)remove().ok();
  if (!*removed) return fail(Error{ErrorKind::kLeaked, removed->error().message});
  say("machine removed");
  if (!noted)
    fail(noted.error().in("the machine is removed, but not noted as gone; say so by benchctl reap --run " + input_.id));
}

}  // namespace benchctl
