// The work asked of one machine: from lease to proof that it is gone. Three acts, called in order by execute(); each
// does nothing when an earlier one failed in a way that makes it useless, and release() always does its part.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "controller/fleet/evidence.h"
#include "controller/fleet/execute.h"
#include "controller/fleet/link.h"
#include "controller/fleet/steps.h"
#include "controller/plan/expand.h"

namespace benchctl {

class Slot {
 public:
  Slot(const RunInput& input, RunWorld& world, std::string fleet_name, const Fleet& fleet, int index_in_fleet,
       int index_in_run);

  bool isolated() const { return isolated_; }
  void prepare();  // made, reached, proved, equipped
  void measure();  // the job runs; every sealed round comes home as it finishes
  void release();  // gone, for certain
  const MachineOutcome& outcome() const { return outcome_; }

 private:
  Status make_machine();
  Status reach_machine();
  Status look_at_machine();
  Status equip_machine();
  Status build_job();
  Status run_job();
  Status follow_to_the_end(Deadline end);
  Status on_event(const Event& event);
  // `round` is nullptr for the final unit.
  Status bring_home(const Json& sealed, const RoundSpec* round);
  Status take_evidence(const std::string& folder, const RoundSpec* round);
  Status reconnect();
  void note(const UnitResult& result);
  void show_first_number(const std::string& folder, const RoundSpec& round);
  void fail(const Error& error);
  void say(const std::string& text) { world_.progress.say(lease_.name, text); }
  Deadline in(int64_t milliseconds) { return Deadline::in(world_.clock, std::chrono::milliseconds(milliseconds)); }

  const RunInput& input_;
  RunWorld& world_;
  std::string fleet_name_;
  const Fleet& fleet_;
  int index_in_run_;
  Provider* provider_ = nullptr;
  bool isolated_ = false;
  Lease lease_;
  int64_t machine_id_ = 0;
  std::optional<Machine> machine_;
  Link link_;
  std::optional<Steps> steps_;
  Deadline ttl_;
  Facts facts_;
  Job job_;
  std::vector<ExpectedTrial> expected_;
  std::map<int64_t, FailedTrial> bad_;           // last bad verdict of a trial number
  std::map<int64_t, const TrialSpec*> spec_of_;  // into job_
  Evidence evidence_;
  bool ready_ = false;
  bool first_number_shown_ = false;
  int64_t last_event_ = 0;
  MachineOutcome outcome_;
};

}  // namespace benchctl
