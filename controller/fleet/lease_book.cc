#include "controller/fleet/lease_book.h"

namespace benchctl {

Result<std::vector<BookedMachine>> StoreBook::open() {
  BENCHCTL_TRY(auto machines, store_.live_machines());
  std::vector<BookedMachine> booked;
  for (const MachineRow& machine : machines) {
    BENCHCTL_TRY(RunRow run, store_.run(machine.lease.run));
    booked.push_back(
        {machine.lease, machine.spec.provider, machine.provider_id, machine.state != MachineRowState::kIntent,
         run.outcome == RunOutcome::kGood || run.outcome == RunOutcome::kFailed, machine.keep_until_ms / 1000});
  }
  return booked;
}

// The step says when it ended, and with that what it cost.
Status StoreBook::note_gone(const MachineRow& machine) {
  BENCHCTL_TRY(int64_t seq, store_.step_intent(machine.id, "destroy"));
  BENCHCTL_CHECK(store_.step_done(machine.id, seq, true, "reaped", 0));
  return store_.machine_state(machine.id,
                              kept_(machine.spec.provider) ? MachineRowState::kReleased : MachineRowState::kGone);
}

Status StoreBook::gone(const std::string& nonce) {
  BENCHCTL_TRY(auto machines, store_.live_machines());
  for (const MachineRow& machine : machines)
    if (machine.lease.nonce == nonce) return note_gone(machine);
  return {};
}

}  // namespace benchctl
