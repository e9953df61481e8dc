// The work asked of one slot: from lease to proof that its machine is gone, with another machine where the first was
// not what was asked for. Three acts, called in order by execute(); each does nothing when an earlier one failed in a
// way that makes it useless, and release() always does its part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/fleet/execute.h"
#include "controller/fleet/job_run.h"
#include "controller/fleet/link.h"
#include "controller/fleet/machine_job.h"
#include "controller/fleet/quiet_step.h"
#include "controller/fleet/shared.h"
#include "controller/fleet/steps.h"

namespace benchctl {

// A machine while it is ours.
struct Held {
  int64_t id = 0;  // in the store
  Lease lease;
  std::optional<Machine> machine;
  std::optional<Link> link;
  std::optional<Steps> steps;
  Facts facts;
  MachineJob job;
  Deadline seal_at;        // by then the job is sealed, so that it comes home within the time to live
  bool adopted = false;    // of an earlier controller
  bool collected = false;  // its job has ended and all that it sealed is home
};

class Slot {
 public:
  Slot(const RunInput& input, RunWorld& world, FleetShare& share, std::string fleet_name, const Fleet& fleet,
       int index_in_fleet, int index_in_run);

  bool isolated() const { return isolated_; }  // final once prepared
  void prepare();  // made, reached, proved, equipped; again, bounded, while machines are rejected
  void measure();  // the job runs; every sealed round comes home as it finishes
  void release();  // gone, for certain
  // Of every machine that it had in this process.
  const std::vector<MachineOutcome>& outcomes() const { return outcomes_; }

 private:
  Status take_over();
  Status take_over(const MachineRow& row);
  bool everything_is_home();
  Status bring_up();
  Status make_machine();
  Status reach_machine();
  Status reach_again();
  bool done_before(const std::string& step);
  // Gives back what it is given; where that rejects the machine, the store says so.
  Status noted(Status status);
  Status look_at_machine();
  Status build_there();
  Status harden_machine();
  Status equip_machine();
  Status ship_bundles();
  QuietStep quiet_step();
  Status quiet_again();
  Status drain();
  void let_go();
  Status collect_first();
  Status put_back_quietness();
  bool may_reroll(const Error& error) const;
  Result<std::vector<MachineRow>> machines_of_slot();
  Result<std::vector<TrialRow>> trials_at_home();
  // The job of all that is not at home, on this machine of these facts.
  Result<MachineJob> missing_job(const Facts& facts, const std::string& machine);
  JobRun job_run();
  void begin_hold(Lease lease, Nanos left);
  void begin_steps(int64_t machine_id);
  Status open_again(const MachineRow& row);
  MachineOutcome& outcome() { return outcomes_.back(); }
  void fail(const Error& error);
  void say(const std::string& text) { world_.progress.say(hold_->lease.name, text); }
  Deadline in(int64_t milliseconds) { return Deadline::in(world_.clock, std::chrono::milliseconds(milliseconds)); }

  const RunInput& input_;
  RunWorld& world_;
  FleetShare& share_;
  std::string fleet_name_;
  const Fleet& fleet_;
  int index_in_fleet_;
  int index_in_run_;
  Provider* provider_ = nullptr;
  bool isolated_ = false;  // of the provider, then of the very machine
  bool disposable_ = true;
  std::optional<Held> hold_;
  bool ready_ = false;
  bool stuck_ = false;  // a machine could not be proved gone: no other one beside it
  int rejected_ = 0;    // machines, also of earlier controllers
  std::vector<MachineOutcome> outcomes_;
};

}  // namespace benchctl
