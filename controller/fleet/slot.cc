#include "controller/fleet/slot.h"

#include <algorithm>
#include <set>

#include "controller/fleet/build_step.h"
#include "controller/fleet/machine_builds.h"
#include "controller/fleet/machine_record.h"
#include "controller/fleet/requirements.h"
#include "controller/fleet/times.h"
#include "controller/remote/harden_client.h"
#include "lib/text.h"
#include "provisioning/cloud_init/rotate_host_key.h"
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/cloud_init/user_data.h"
#include "provisioning/lifecycle.h"

namespace benchctl {
namespace {

constexpr int64_t kReleaseMs = 5 * 60'000;
// What comes home and goes away after the last trial must fit into the time to live.
constexpr int64_t kSealBeforeEndMs = 15 * 60'000;

std::string seconds_since(Clock& clock, Nanos begin) {
  return format_seconds(std::chrono::duration<double>(clock.now() - begin).count());
}

}  // namespace

Slot::Slot(const RunInput& input, RunWorld& world, FleetShare& share, std::string fleet_name, const Fleet& fleet,
           int index_in_fleet, int index_in_run)
    : input_(input),
      world_(world),
      share_(share),
      fleet_name_(std::move(fleet_name)),
      fleet_(fleet),
      index_in_fleet_(index_in_fleet),
      index_in_run_(index_in_run) {
  provider_ = world.provider(fleet.spec.provider);
  if (provider_ == nullptr) return;
  isolated_ = provider_->capabilities().isolated;
  disposable_ = provider_->capabilities().disposable;
}

void Slot::fail(const Error& error) {
  if (outcomes_.empty()) outcomes_.push_back({fleet_name_ + "/" + std::to_string(index_in_fleet_ + 1), 0, {}, {}, ""});
  // After a wish to stop, operations fail because we ended them.
  if (world_.stop.requested() && error.kind != ErrorKind::kLeaked) return;
  outcome().errors.push_back(error);
  world_.progress.say(outcome().machine, "failed: " + error.message);
}

void Slot::begin_hold(Lease lease, Nanos left) {
  hold_.emplace();
  hold_->lease = std::move(lease);
  hold_->link.emplace(world_.connector, world_.clock, world_.stop);
  Nanos margin = std::min<Nanos>(std::chrono::milliseconds(kSealBeforeEndMs), left / 8);
  hold_->seal_at = Deadline::in(world_.clock, left - margin);
  outcomes_.push_back({hold_->lease.name, 0, {}, {}, ""});
}

void Slot::begin_steps(int64_t machine_id) {
  hold_->id = machine_id;
  hold_->steps.emplace(world_.store, world_.failpoints, machine_id,
                       [link = &*hold_->link] { return link->counts().channels; });
}

JobRun Slot::job_run() {
  return JobRun(input_, world_, hold_->id, hold_->lease.name, *hold_->link, *hold_->steps, outcome(), hold_->job,
                [this] { return quiet_again(); });
}

bool Slot::may_reroll(const Error& error) const {
  return error.kind == ErrorKind::kRejected && provider_->capabilities().reroll && rejected_ < fleet_.require.rerolls &&
         !world_.stop.requested();
}

void Slot::prepare() {
  if (world_.stop.requested()) return;
  if (provider_ == nullptr)
    return fail(Error{ErrorKind::kUsage, "provider " + fleet_.spec.provider + " is not available"});
  if (input_.resume) {
    if (auto taken = take_over(); !taken) return fail(taken.error());
    if (stuck_) return;
  }
  while (!world_.stop.requested()) {
    // A machine that stands may still have its last unit, and is let go in the end either way.
    if (input_.resume && !hold_ && everything_is_home()) return;
    Status up = bring_up();
    if (up) {
      ready_ = !hold_->job.job.rounds.empty();
      return;
    }
    if (!hold_ || world_.stop.requested()) return fail(up.error());
    bool lost = hold_->adopted && up.error().kind == ErrorKind::kProvisioning;
    if (lost) {
      say("cannot be taken up again (" + up.error().message + "); another machine runs what is missing");
    } else if (may_reroll(up.error())) {
      ++rejected_;
      outcome().rejected = up.error().message;
      say("rejected, asking for another one (" + std::to_string(rejected_) + " of " +
          std::to_string(fleet_.require.rerolls) + "): " + up.error().message);
    } else {
      return fail(up.error());
    }
    let_go();
    if (stuck_) return;
  }
}

Status Slot::bring_up() {
  if (!hold_) BENCHCTL_CHECK(make_machine());
  const std::pair<const char*, Status (Slot::*)()> steps[] = {{"connect", &Slot::reach_machine},
                                                              {"facts", &Slot::look_at_machine},
                                                              {"build", &Slot::build_there},
                                                              {"harden", &Slot::harden_machine},
                                                              {"equip", &Slot::equip_machine}};
  for (const auto& step : steps) {
    if (world_.stop.requested()) return Error{ErrorKind::kInterrupted, "stopped"};
    if (step.second == &Slot::build_there && (!builds_on_machines(input_.plan) || done_before("build"))) continue;
    if (step.second == &Slot::harden_machine && (!input_.harden || done_before("harden"))) continue;
    BENCHCTL_CHECK(hold_->steps->run(step.first, [&] { return (this->*step.second)(); }));
  }
  return hold_->adopted ? drain() : Status();
}

Status Slot::make_machine() {
  Lease lease;
  lease.nonce = world_.new_nonce();
  lease.run = input_.id;
  lease.fleet = fleet_name_;
  lease.slot = index_in_fleet_;
  lease.name = "bc-" + lease.nonce;
  int64_t ttl_ms = input_.plan.limits.ttl_ms;
  lease.expires_unix = world_.clock.unix_ms() / 1000 + ttl_ms / 1000;
  BENCHCTL_TRY(lease.owner, world_.store.owner());
  BENCHCTL_TRY(auto price, provider_->price(fleet_.spec));
  BENCHCTL_CHECK(share_.budget.reserve(lease.name, price, longest_life_ms(input_.plan.limits, input_.keep_ms)));
  begin_hold(lease, std::chrono::milliseconds(ttl_ms));
  BENCHCTL_TRY(int64_t id, world_.store.add_lease(lease, fleet_.spec, isolated_));
  begin_steps(id);
  return hold_->steps->run("create", [&]() -> Status {
    world_.progress.now(lease.name, "making the machine");
    Bootstrap bootstrap;
    std::string pin;
    if (disposable_) {
      BENCHCTL_TRY(SshIdentity host, world_.make_identity());
      BENCHCTL_TRY(pin, ssh_fingerprint(host.public_key));
      bootstrap = make_bootstrap(host, input_.identity.public_key);
      BENCHCTL_CHECK(world_.store.set_host_key(hold_->id, pin));
    }
    Nanos begin = world_.clock.now();
    BENCHCTL_TRY(hold_->machine, acquire(*provider_, fleet_.spec, lease, bootstrap, world_.clock, in(kBootMs)));
    const Endpoint& endpoint = *hold_->machine->endpoint;
    if (!endpoint.host_key.empty()) {
      pin = endpoint.host_key;
      BENCHCTL_CHECK(world_.store.set_host_key(hold_->id, pin));
    }
    BENCHCTL_CHECK(world_.store.machine_created(hold_->id, hold_->machine->id, endpoint));
    hold_->link->target(endpoint, input_.identity, pin);
    // A machine of ours that shares this very kernel shares its cores with us, too.
    if (isolated_ && hold_->machine->same_kernel) {
      isolated_ = false;
      BENCHCTL_CHECK(world_.store.set_isolated(hold_->id, false));
    }
    say(std::string(disposable_ ? "machine made in " : "machine taken in ") + seconds_since(world_.clock, begin));
    return {};
  });
}

Status Slot::reach_machine() {
  world_.progress.now(hold_->lease.name, disposable_ ? "waiting for ssh" : "connecting");
  Nanos begin = world_.clock.now();
  if (done_before("connect")) return reach_again();
  BENCHCTL_CHECK(hold_->link->open(in(kBootMs), true));
  if (!disposable_) return {};
  // The first key travelled in user-data, which every process of a cloud machine can read: it is good for this one
  // connection only.
  BENCHCTL_TRY(std::string pin, rotate_host_key(hold_->link->transport(), world_.clock, in(kBootMs)));
  BENCHCTL_CHECK(world_.store.set_host_key(hold_->id, pin));
  hold_->link->pin(pin);
  BENCHCTL_CHECK(hold_->link->open(in(kConnectMs), true));
  say("reached by ssh, host key renewed, after " + seconds_since(world_.clock, begin));
  return {};
}

// By an earlier controller, and well. A machine that may be measuring is not disturbed by doing it again; what a reboot
// undid is done again before its agent is started.
bool Slot::done_before(const std::string& name) {
  if (!hold_->adopted) return false;
  auto steps = world_.store.steps(hold_->id);
  return steps &&
         std::any_of(steps->begin(), steps->end(), [&](const StepRow& step) { return step.name == name && step.ok; });
}

Status Slot::reach_again() {
  BENCHCTL_CHECK(hold_->link->open(in(kAgainMs), true));
  say("taken up again");
  return {};
}

Status Slot::noted(Status status) {
  if (!status && status.error().kind == ErrorKind::kRejected)
    BENCHCTL_CHECK(world_.store.machine_state(hold_->id, MachineRowState::kRejected, status.error().message));
  return status;
}

Status Slot::look_at_machine() {
  AgentClient& agent = hold_->link->agent();
  BENCHCTL_TRY(Installed installed, agent.install_agent(input_.agent_binary, in(kTransferMs)));
  hold_->link->use_agent(installed.sha256);
  if (std::string remark = hold_->link->transport().remark(); !remark.empty()) say(remark);
  BENCHCTL_CHECK(world_.store.set_agent(hold_->id, installed.sha256));
  BENCHCTL_TRY(MachineFacts stored, world_.store.facts(hold_->id));
  if (!stored.before.empty()) {
    // Seen before anything was changed: later ones would be others.
    BENCHCTL_TRY(hold_->facts, parse_facts(stored.before));
  } else {
    BENCHCTL_TRY(hold_->facts, agent.facts(in(kShortCallMs)));
    BENCHCTL_CHECK(world_.store.machine_facts(
        hold_->id, {hold_->facts.document.dump(), "", fingerprint(hold_->facts), hardware_key(hold_->facts), ""}));
  }
  Status met = meets(fleet_.require, hold_->facts, isolated_);
  if (met && fleet_.require.spread && !hold_->adopted &&
      !share_.hardware.claim(fleet_name_, index_in_fleet_, hardware_key(hold_->facts)) &&
      may_reroll(Error{ErrorKind::kRejected, ""}))
    met =
        Error{ErrorKind::kRejected, "another machine of this fleet has the same hardware, and the plan asks to spread"};
  BENCHCTL_CHECK(noted(std::move(met)));
  say(describe(hold_->facts));
  return {};
}

QuietStep Slot::quiet_step() {
  return {world_.store,
          world_.clock,
          hold_->id,
          hold_->link->transport(),
          hold_->link->agent().agent_path(),
          harden_journal(*hold_->machine->endpoint)};
}

// Before the machine is made quiet: compiling wakes what hardening puts to sleep, and is no part of a trial.
Status Slot::build_there() {
  BuildStep step{
      input_,
      world_.store,
      world_.clock,
      hold_->link->agent(),
      hold_->facts,
      hold_->lease.name,
      fleet_.spec.provider,
      [&] { return std::min<Nanos>(std::chrono::milliseconds(kBuildMs), hold_->seal_at.left(world_.clock)); },
      [&](const std::string& text) { say(text); },
      [&](const std::string& text) { world_.progress.now(hold_->lease.name, text); }};
  return noted(build_on_machine(step));
}

Status Slot::harden_machine() {
  world_.progress.now(hold_->lease.name, "making the machine quiet");
  BENCHCTL_CHECK(noted(make_quiet(quiet_step(), *input_.harden)));
  BENCHCTL_TRY(Facts hardened, hold_->link->agent().facts(in(kShortCallMs)));
  BENCHCTL_CHECK(world_.store.machine_facts(hold_->id, {"", "", "", "", hardened.document.dump()}));
  say("quiet by profile " + input_.harden->name + ", proved: nothing starts by itself");
  return {};
}

// After a reboot services may run again; where nothing changed it is nothing.
Status Slot::quiet_again() {
  return input_.harden ? make_quiet(quiet_step(), *input_.harden) : Status();
}

// A machine that lives on after us gets back what was changed, on every way out; over a new connection where ours is
// gone.
Status Slot::put_back_quietness() {
  if (!input_.harden || disposable_ || !hold_->machine || !hold_->machine->endpoint) return {};
  BENCHCTL_TRY(MachineRow row, world_.store.machine(hold_->id));
  BENCHCTL_TRY(auto steps, world_.store.steps(hold_->id));
  bool begun = std::any_of(steps.begin(), steps.end(), [](const StepRow& step) { return step.name == "harden"; });
  if (!begun || row.agent_sha256.empty()) return {};
  return hold_->steps->run("put back", [&]() -> Status {
    BENCHCTL_CHECK(open_again(row));
    BENCHCTL_CHECK(put_back(quiet_step(), *input_.harden));
    say("put back as it was found");
    return {};
  });
}

Status Slot::equip_machine() {
  AgentClient& agent = hold_->link->agent();
  BENCHCTL_TRY(hold_->job, load_job(input_.folder, hold_->lease.name));
  const bool fresh = hold_->job.job.rounds.empty();
  if (fresh) {
    auto made = missing_job(hold_->facts, hold_->lease.name);
    if (!made) return noted(made.error());
    hold_->job = *std::move(made);
    BENCHCTL_CHECK(world_.store.leave_out(hold_->id, hold_->job.left_out));
    for (const LeftOutRow& row : hold_->job.left_out)
      say(row.suite + ", " + row.arm + ": " + row.kind + ": " + row.reason);
  }
  BENCHCTL_CHECK(ship_bundles());
  if (fresh) {
    Job& job = hold_->job.job;
    job.machine = hold_->lease.name;
    job.bundles_dir = agent.bundles_dir();
    // Where cores are shared with us the noise is ours: it is flagged, and nothing is run again for it.
    if (isolated_) job.repeat_steal_percent = input_.plan.noise.repeat_steal * 100;
    if (input_.harden) {
      job.harden = to_json(*input_.harden);
      job.harden.set("journal", harden_journal(*hold_->machine->endpoint));
    }
    BENCHCTL_CHECK(save_job(input_.folder, hold_->lease.name, hold_->job));
  }
  return world_.store.set_agent_dir(hold_->id, agent.run_dir(input_.id));
}

// What the machine's trials run from, each once.
Status Slot::ship_bundles() {
  std::set<std::string> needed;
  for (const RoundSpec& round : hold_->job.job.rounds)
    for (const TrialSpec& trial : round.trials) needed.insert(trial.bundle);
  for (const auto& [key, bundle] : input_.bundles) {
    if (needed.erase(bundle.sha256) == 0) continue;
    BENCHCTL_TRY(Installed installed, hold_->link->agent().install_bundle(bundle.folder, in(kTransferMs)));
    if (installed.sha256 != bundle.sha256)
      return Error{ErrorKind::kInternal, bundle.folder + " changed after it was built: build it again"};
    if (installed.uploaded) say("shipped " + format_bytes(installed.bytes) + " of workloads");
  }
  return {};
}

void Slot::measure() {
  if (!ready_ || world_.stop.requested()) return;
  auto measured = [&]() -> Status {
    std::optional<FileLock> turn;
    if (!isolated_) {
      world_.progress.now(hold_->lease.name, "waiting for its turn on this computer");
      BENCHCTL_TRY(turn, world_.host_turn(hold_->seal_at));
    }
    Status ran = job_run().run(hold_->adopted, hold_->seal_at);
    hold_->collected = ran.ok();
    if (!ran || world_.stop.requested() || !outcome().errors.empty()) return ran;
    // Whatever the agent says of itself: what is not here is missing.
    BENCHCTL_TRY(MachineJob missing, missing_job(hold_->facts, hold_->lease.name));
    if (missing.job.rounds.empty()) return {};
    return Error{ErrorKind::kInterrupted, "rounds are missing: run them by benchctl resume " + input_.id};
  }();
  if (!measured) fail(measured.error());
}

void Slot::release() {
  if (!hold_ || hold_->id == 0) return;
  if (input_.keep_ms > 0 && hold_->machine) {
    hold_->link->close();
    int64_t until = world_.clock.unix_ms() + input_.keep_ms;
    if (auto kept = world_.store.set_keep(hold_->id, until); !kept) fail(kept.error());
    say("kept until " + format_utc(until) + "; reach it by: benchctl machine ssh " + hold_->lease.name);
    world_.progress.now(hold_->lease.name, "");
    return;
  }
  let_go();
}

// Proved gone, or the hold stays and the error is kLeaked.
void Slot::let_go() {
  if (hold_->id == 0) return hold_.reset();
  if (auto home = collect_first(); !home) say("not all could be brought home: " + home.error().message);
  // Giving the machine back does it once more where this fails, and fails where it cannot.
  if (auto back = put_back_quietness(); !back) say("not put back yet: " + back.error().message);
  hold_->link->close();
  const Lease& lease = hold_->lease;
  Machine target = hold_->machine.value_or(
      Machine{fleet_.spec.provider, "", lease.name, lease.nonce, lease.run, lease.owner, lease.expires_unix, {}});
  std::optional<Status> removed;
  auto remove = [&]() -> Status {
    world_.progress.now(lease.name, "removing the machine");
    removed = benchctl::release(*provider_, target, world_.clock, in(kReleaseMs));
    return *removed;
  };
  auto noted = hold_->steps->run("destroy", [&]() -> Status {
    BENCHCTL_CHECK(world_.store.machine_state(hold_->id, MachineRowState::kReleasing));
    BENCHCTL_CHECK(remove());
    return world_.store.machine_state(hold_->id, disposable_ ? MachineRowState::kGone : MachineRowState::kReleased);
  });
  // A store that cannot be written (a full disk) is no reason to leave a machine behind.
  if (!removed) (void)remove().ok();
  stuck_ = !*removed;
  std::erase_if(outcome().errors, [](const Error& error) { return error.kind == ErrorKind::kLeaked; });
  if (stuck_) return fail(Error{ErrorKind::kLeaked, removed->error().message});
  say(disposable_ ? "machine removed" : "machine given back");
  world_.progress.now(lease.name, "");
  if (!noted)
    fail(noted.error().in("the machine is removed, but not noted as gone; say so by benchctl reap --run " + input_.id));
  if (auto row = world_.store.machine(hold_->id)) {
    auto price = provider_->price(fleet_.spec);
    auto lived = lived_ms(world_.store, *row, world_.clock.unix_ms());
    if (price && lived) share_.budget.settle(lease.name, *price, *lived);
  }
  hold_.reset();
}

}  // namespace benchctl
