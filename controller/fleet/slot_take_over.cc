// The part of a slot that goes on where an earlier controller of the run had to leave.
#include <algorithm>

#include "controller/fleet/slot.h"

namespace benchctl {
namespace {

constexpr int64_t kShortCallMs = 60'000;
constexpr int64_t kAgainMs = 2 * 60'000;

Machine machine_of(const MachineRow& row) {
  return Machine{row.spec.provider, row.provider_id, row.lease.name,         row.lease.nonce,
                 row.lease.run,     row.lease.owner, row.lease.expires_unix, row.endpoint};
}

bool has_left(const MachineRow& row) {
  return row.state == MachineRowState::kGone || row.state == MachineRowState::kReleased;
}

}  // namespace

// What an earlier controller of this run has left of this slot: at most one machine is taken up, the others go.
Status Slot::take_over() {
  BENCHCTL_TRY(auto rows, world_.store.machines(input_.id));
  std::erase_if(
      rows, [&](const MachineRow& row) { return row.lease.fleet != fleet_name_ || row.lease.slot != index_in_fleet_; });
  for (const MachineRow& row : rows) {
    if (!row.reason.empty()) ++rejected_;
    if (row.reason.empty() && !row.hardware.empty())
      (void)share_.hardware.claim(fleet_name_, index_in_fleet_, row.hardware);
  }
  for (const MachineRow& row : rows) {
    if (has_left(row)) continue;
    if (hold_) let_go();  // an older one that still stands: only the newest can have the job
    if (stuck_) return {};
    BENCHCTL_CHECK(take_over(row));
    if (stuck_) return {};
  }
  return {};
}

Status Slot::take_over(const MachineRow& row) {
  int64_t left_ms = std::max(row.lease.expires_unix * 1000, row.keep_until_ms) - world_.clock.unix_ms();
  begin_hold(row.lease, std::chrono::milliseconds(std::max<int64_t>(0, left_ms)));
  hold_->id = row.id;
  hold_->adopted = true;
  isolated_ = isolated_ && row.isolated;
  hold_->steps.emplace(world_.store, world_.failpoints, row.id,
                       [link = &*hold_->link] { return link->counts().channels; });
  if (row.state != MachineRowState::kIntent) hold_->machine = machine_of(row);
  // Announced and not confirmed: its keys are lost with the controller that made them. Rejected, on its way out or too
  // old: nothing to go on with either.
  if (row.state != MachineRowState::kExists || !row.endpoint || hold_->seal_at.passed(world_.clock)) {
    let_go();
    return {};
  }
  auto state = provider_->state(*hold_->machine);
  if (state && *state == MachineState::kGone) {
    say("is gone since");
    let_go();
    return {};
  }
  hold_->link->target(*row.endpoint, input_.identity, row.host_key);
  return {};
}

Result<std::vector<TrialRow>> Slot::trials_at_home() {
  BENCHCTL_TRY(auto machines, world_.store.machines(input_.id));
  BENCHCTL_TRY(auto trials, world_.store.trials(input_.id));
  std::erase_if(trials, [&](const TrialRow& trial) {
    return std::none_of(machines.begin(), machines.end(), [&](const MachineRow& machine) {
      return machine.id == trial.machine && machine.lease.fleet == fleet_name_ && machine.lease.slot == index_in_fleet_;
    });
  });
  return trials;
}

// Of a slot that had machines before: no scored round is missing, going by the shape of the last one that was looked
// at.
bool Slot::everything_is_home() {
  auto machines = world_.store.machines(input_.id);
  auto trials = trials_at_home();
  if (!machines || !trials || trials->empty()) return false;
  for (auto row = machines->rbegin(); row != machines->rend(); ++row) {
    if (row->lease.fleet != fleet_name_ || row->lease.slot != index_in_fleet_) continue;
    auto stored = world_.store.facts(row->id);
    if (!stored || stored->before.empty()) continue;
    auto facts = parse_facts(stored->before);
    if (!facts) return false;
    auto job = make_job(input_, world_.store, *facts, index_in_run_, *trials);
    return job && job->job.rounds.empty();
  }
  return false;
}

// A machine that measured while nobody was there may hold rounds that nobody has; whatever the reason to let it go,
// they come home first.
Status Slot::collect_first() {
  if (!hold_->adopted || hold_->collected || !hold_->machine || !hold_->machine->endpoint) return {};
  BENCHCTL_TRY(MachineRow row, world_.store.machine(hold_->id));
  BENCHCTL_TRY(MachineJob job, load_job(input_.folder, hold_->lease.name));
  if (row.agent_sha256.empty() || job.job.rounds.empty()) return {};
  hold_->link->target(*hold_->machine->endpoint, input_.identity, row.host_key);
  BENCHCTL_CHECK(hold_->link->open(in(kAgainMs), false));
  hold_->link->use_agent(row.agent_sha256);
  JobRun left(input_, world_, hold_->id, hold_->lease.name, *hold_->link, *hold_->steps, outcome(), std::move(job),
              [] { return Status(); });
  BENCHCTL_CHECK(left.collect());
  hold_->collected = true;
  return {};
}

// An adopted machine whose job has ended: what it still has comes home now, and if rounds are missing then (the job was
// stopped), they are another machine's.
Status Slot::drain() {
  auto state = hold_->link->agent().state(input_.id, in(kShortCallMs));
  if (!state && state.error().kind == ErrorKind::kProvisioning) return state.error();
  if (!state || !state->done) return {};
  JobRun job(input_, world_, hold_->id, hold_->lease.name, *hold_->link, *hold_->steps, outcome(), hold_->job,
             [this] { return quiet_again(); });
  BENCHCTL_CHECK(job.run(true, hold_->seal_at));
  hold_->collected = true;
  hold_->job.job.rounds.clear();
  BENCHCTL_TRY(auto done, trials_at_home());
  BENCHCTL_TRY(MachineJob missing, make_job(input_, world_.store, hold_->facts, index_in_run_, done));
  if (missing.job.rounds.empty()) return {};
  return Error{ErrorKind::kProvisioning, "its job had been stopped"};
}

}  // namespace benchctl
