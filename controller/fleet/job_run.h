// A job on its machine: started, followed through cuts and restarts, every sealed round brought home. It may begin in
// the middle: what the agent says again is taken again, and comes to the same.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "controller/fleet/evidence.h"
#include "controller/fleet/execute.h"
#include "controller/fleet/link.h"
#include "controller/fleet/machine_job.h"
#include "controller/fleet/run_context.h"
#include "controller/fleet/steps.h"

namespace benchctl {

class JobRun {
 public:
  // All references outlive it. `machine_id` and `name`: of the machine in the store.
  // `make_ready` is called before the agent is started again: the machine may have lost by a reboot what it was given.
  JobRun(const RunInput& input, RunWorld& world, int64_t machine_id, std::string name, Link& link, Steps& steps,
         MachineOutcome& outcome, MachineJob job, std::function<Status()> make_ready);

  // Starts the job where it does not run yet and follows it to its end, to `seal_at` (what is sealed by then comes
  // home) or to a wish to stop. Trials that failed are in the outcome; an error is of the machine.
  Status run(bool may_be_started, Deadline seal_at);
  // Ends the job and brings home what it has sealed, over a connection of its own, tried again until its time is over.
  Status collect();

 private:
  Status start_unless(bool may_be_started);
  Status follow(Deadline seal_at);
  Status collect_once(Deadline end);
  Status on_event(const Event& event);
  Status on_trial(const Event& event);
  Status on_proof(const Event& event);
  Status on_run_done(const Json& fields);
  // `round` is nullptr for the final unit. Waits for space where there is none here: what is sealed stays on the
  // machine until its time is over.
  Status bring_home(const Json& sealed, const RoundSpec* round);
  Status try_to_bring_home(const Json& sealed, const RoundSpec* round);
  Status reconnect_after(const Error& lost);
  void note(const UnitResult& result);
  void show_first_number(const std::string& folder, const RoundSpec& round);
  void fail(const Error& error);
  void say(const std::string& text) { world_.progress.say(name_, text); }
  Deadline in(int64_t milliseconds) { return Deadline::in(world_.clock, std::chrono::milliseconds(milliseconds)); }

  const RunInput& input_;
  RunWorld& world_;
  int64_t machine_id_;
  std::string name_;
  Link& link_;
  Steps& steps_;
  MachineOutcome& outcome_;
  MachineJob job_;
  std::function<Status()> make_ready_;
  std::map<int64_t, const TrialSpec*> spec_of_;  // into job_
  std::map<int64_t, FailedTrial> bad_;           // last bad verdict of a trial number
  Evidence evidence_;
  Deadline seal_at_;
  std::map<int, std::string> unit_of_;  // round -> the one unit that it was sealed as
  bool first_number_shown_ = false;
  bool collecting_ = false;
  int64_t last_event_ = 0;
};

}  // namespace benchctl
