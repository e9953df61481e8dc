// The part of a slot that goes on where an earlier controller of the run had to leave.
#include <algorithm>

#include "controller/fleet/machine_builds.h"
#include "controller/fleet/slot.h"
#include "controller/fleet/times.h"

namespace benchctl {
namespace {

Machine machine_of(const MachineRow& row) {
  return Machine{row.spec.provider, row.provider_id, row.lease.name,         row.lease.nonce,
                 row.lease.run,     row.lease.owner, row.lease.expires_unix, row.endpoint};
}

}  // namespace

// What an earlier controller of this run has left of this slot: at most one machine is taken up, the others go.
Status Slot::take_over() {
  BENCHCTL_TRY(auto rows, machines_of_slot());
  for (const MachineRow& row : rows) {
    if (!row.reason.empty()) ++rejected_;
    if (row.reason.empty() && !row.hardware.empty())
      (void)share_.hardware.claim(fleet_name_, index_in_fleet_, row.hardware);
  }
  for (const MachineRow& row : rows) {
    if (row.has_left()) continue;
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
  begin_steps(row.id);
  hold_->adopted = true;
  isolated_ = isolated_ && row.isolated;
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

Result<std::vector<MachineRow>> Slot::machines_of_slot() {
  BENCHCTL_TRY(auto rows, world_.store.machines(input_.id));
  std::erase_if(
      rows, [&](const MachineRow& row) { return row.lease.fleet != fleet_name_ || row.lease.slot != index_in_fleet_; });
  return rows;
}

Result<std::vector<TrialRow>> Slot::trials_at_home() {
  BENCHCTL_TRY(auto machines, machines_of_slot());
  BENCHCTL_TRY(auto trials, world_.store.trials(input_.id));
  std::erase_if(trials, [&](const TrialRow& trial) {
    return std::none_of(machines.begin(), machines.end(),
                        [&](const MachineRow& machine) { return machine.id == trial.machine; });
  });
  return trials;
}

Result<MachineJob> Slot::missing_job(const Facts& facts, const std::string& machine) {
  BENCHCTL_TRY(auto done, trials_at_home());
  if (!builds_on_machines(input_.plan)) return make_job(input_, world_.store, facts, index_in_run_, done);
  BENCHCTL_TRY(MachineBuilds builds, load_builds(input_.folder, machine));
  return make_job(seen_by(input_, builds), world_.store, facts, index_in_run_, done);
}

// Of a slot that had machines before: no scored round is missing, going by the shape of the last one that was looked
// at.
bool Slot::everything_is_home() {
  auto machines = machines_of_slot();
  auto trials = trials_at_home();
  if (!machines || !trials || trials->empty()) return false;
  for (auto row = machines->rbegin(); row != machines->rend(); ++row) {
    auto stored = world_.store.facts(row->id);
    if (!stored || stored->before.empty()) continue;
    auto facts = parse_facts(stored->before);
    if (!facts) return false;
    auto job = missing_job(*facts, row->lease.name);
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
  BENCHCTL_CHECK(open_again(row));
  hold_->job = std::move(job);
  BENCHCTL_CHECK(job_run().collect());
  hold_->collected = true;
  return {};
}

// A connection of its own to a machine that was reached before, with the agent that it has.
Status Slot::open_again(const MachineRow& row) {
  hold_->link->target(*hold_->machine->endpoint, input_.identity, row.host_key);
  BENCHCTL_CHECK(hold_->link->open(in(kAgainMs), false));
  hold_->link->use_agent(row.agent_sha256);
  return {};
}

// An adopted machine whose job has ended: what it still has comes home now, and if rounds are missing then (the job was
// stopped), they are another machine's.
Status Slot::drain() {
  auto state = hold_->link->agent().state(input_.id, in(kShortCallMs));
  if (!state && state.error().kind == ErrorKind::kProvisioning) return state.error();
  if (!state || !state->done) return {};
  BENCHCTL_CHECK(job_run().run(true, hold_->seal_at));
  hold_->collected = true;
  hold_->job.job.rounds.clear();
  BENCHCTL_TRY(MachineJob missing, missing_job(hold_->facts, hold_->lease.name));
  if (missing.job.rounds.empty()) return {};
  return Error{ErrorKind::kProvisioning, "its job had been stopped"};
}

}  // namespace benchctl
