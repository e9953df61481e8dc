#include "controller/fleet/execute.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <tuple>

#include "controller/fleet/machine_record.h"
#include "controller/fleet/slot.h"

namespace benchctl {
namespace {

using Slots = std::vector<std::unique_ptr<Slot>>;

// Calls `work` for every slot, at most `parallel` at a time.
void for_each_slot(const Slots& slots, int parallel, const std::function<void(Slot&)>& work) {
  std::atomic<size_t> next{0};
  auto drain = [&] {
    for (size_t i; (i = next++) < slots.size();) work(*slots[i]);
  };
  std::vector<std::thread> threads;
  size_t count = std::min(slots.size(), static_cast<size_t>(std::max(1, parallel)));
  for (size_t i = 1; i < count; ++i) threads.emplace_back(drain);
  drain();
  for (std::thread& thread : threads) thread.join();
}

Slots make_slots(const RunInput& input, RunWorld& world, FleetShare& share) {
  Slots slots;
  for (const auto& [name, fleet] : input.plan.fleets)
    for (int i = 0; i < fleet.count; ++i)
      slots.push_back(std::make_unique<Slot>(input, world, share, name, fleet, i, static_cast<int>(slots.size())));
  return slots;
}

// What machines of earlier controllers have cost, and what those that stand may still cost.
Status count_earlier_costs(const RunInput& input, RunWorld& world, Budget& budget) {
  BENCHCTL_TRY(auto machines, world.store.machines(input.id));
  for (const MachineRow& machine : machines) {
    Provider* provider = world.provider(machine.spec.provider);
    if (provider == nullptr) continue;
    auto price = provider->price(machine.spec);
    if (!price)
      return Error{ErrorKind::kInterrupted, "the price of " + machine.lease.name + " cannot be asked now (" +
                                                price.error().message + "): try again"};
    BENCHCTL_TRY(int64_t lived, lived_ms(world.store, machine, world.clock.unix_ms()));
    budget.settle(machine.lease.name, *price,
                  machine.has_left() ? lived : std::max(lived, longest_life_ms(input.plan.limits, input.keep_ms)));
  }
  return {};
}

// Trials of earlier controllers that failed and were not run again: the whole run is judged, not its last part.
void add_earlier_failures(const RunInput& input, Store& store, RunOutcomeReport& report) {
  auto trials = store.trials(input.id);
  auto machines = store.machines(input.id);
  if (!trials || !machines) return;
  std::map<int64_t, const MachineRow*> by_id;
  for (const MachineRow& machine : *machines) by_id[machine.id] = &machine;
  std::map<std::tuple<std::string, std::string, std::string, bool, int, std::string>, const TrialRow*> newest;
  for (const TrialRow& trial : *trials) {
    const Lease& lease = by_id.at(trial.machine)->lease;
    std::string slot = lease.fleet + "/" + std::to_string(lease.slot);
    const TrialRow*& known = newest[{trial.suite, trial.point, trial.arm, trial.aa_copy, trial.round, slot}];
    if (known == nullptr || known->attempt < trial.attempt) known = &trial;
  }
  for (const auto& entry : newest) {
    const TrialRow* trial = entry.second;
    if (trial->verdict == "ok" || trial->verdict == "stopped") continue;
    const std::string& name = by_id.at(trial->machine)->lease.name;
    auto outcome = std::find_if(report.machines.begin(), report.machines.end(),
                                [&](const MachineOutcome& one) { return one.machine == name; });
    if (outcome == report.machines.end()) outcome = report.machines.insert(outcome, {name, 0, {}, {}, ""});
    bool told = std::any_of(outcome->failed.begin(), outcome->failed.end(),
                            [&](const FailedTrial& failed) { return failed.number == trial->number; });
    if (!told)
      outcome->failed.push_back({trial->number, trial->suite, trial->point, trial->arm, trial->verdict, trial->reason});
  }
}

}  // namespace

RunOutcomeReport execute(const RunInput& input, RunWorld& world) {
  FleetShare share(input.plan.limits);
  RunOutcomeReport report;
  if (input.resume) {
    if (auto counted = count_earlier_costs(input, world, share.budget); !counted) {
      report.machines.push_back({"run " + input.id, 0, {}, {counted.error()}, ""});
      return report;
    }
  }
  Slots slots = make_slots(input, world, share);

  // Machines of their own go the whole way by themselves.
  for_each_slot(slots, input.plan.limits.max_parallel, [](Slot& slot) {
    slot.prepare();
    if (!slot.isolated()) return;
    slot.measure();
    slot.release();
  });
  // Machines that share this computer's cores measure one after another, and nothing is made or removed meanwhile.
  for (const auto& slot : slots)
    if (!slot->isolated()) slot->measure();
  for_each_slot(slots, input.plan.limits.max_parallel, [](Slot& slot) {
    if (!slot.isolated()) slot.release();
  });

  for (const auto& slot : slots)
    report.machines.insert(report.machines.end(), slot->outcomes().begin(), slot->outcomes().end());
  if (input.resume) add_earlier_failures(input, world.store, report);
  report.interrupted = world.stop.requested();
  return report;
}

int worse_exit_code(int a, int b) {
  static constexpr int kPrecedence[] = {8, 7, 4, 5, 6, 3, 2, 1, 0};
  for (int code : kPrecedence)
    if (a == code || b == code) return code;
  return 1;
}

int RunOutcomeReport::exit_code() const {
  int worst = interrupted ? benchctl::exit_code(ErrorKind::kInterrupted) : 0;
  for (const MachineOutcome& machine : machines) {
    for (const Error& error : machine.errors) worst = worse_exit_code(worst, benchctl::exit_code(error.kind));
    if (!machine.failed.empty()) worst = worse_exit_code(worst, benchctl::exit_code(ErrorKind::kWorkload));
  }
  return worst;
}

std::string RunOutcomeReport::reason() const {
  std::string text;
  auto line = [&](const std::string& words) { text += (text.empty() ? "" : "\n") + words; };
  for (const MachineOutcome& machine : machines) {
    for (const Error& error : machine.errors) line(machine.machine + ": " + error.message);
    size_t shown = 0;
    for (const FailedTrial& trial : machine.failed) {
      if (++shown > 8) {
        line(machine.machine + ": and " + std::to_string(machine.failed.size() - 8) + " more failed trials");
        break;
      }
      line(machine.machine + ": trial " + std::to_string(trial.number) + " (" + trial.suite +
           (trial.point.empty() ? "" : " " + trial.point) + ", " + trial.arm + "): " + trial.verdict +
           (trial.reason.empty() ? "" : ": " + trial.reason));
    }
  }
  if (interrupted) line("stopped on request; what had finished is kept");
  return text;
}

}  // namespace benchctl
