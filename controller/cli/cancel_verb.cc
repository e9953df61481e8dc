// `cancel RUN`: asks the run's controller to stop: the running trial ends, what is sealed comes home, machines go.
#include <csignal>
#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kStopMs = 10 * 60'000;  // of a run: stop, seal, pull, destroy

Result<int> cancel(Context& context, Parts& parts, const std::string& word) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(RunRow run, find_run(*store, word));
  if (run.outcome != RunOutcome::kRunning) {
    std::cout << "run " << run.id << " has ended: " << name_of(run.outcome) << "\n";
    return 0;
  }
  BENCHCTL_TRY(auto holder, lock_holder(*store));
  if (!holder || holder->run != run.id)
    return Error{ErrorKind::kInterrupted,
                 "run " + run.id + " has no controller any more; bring home what has finished by benchctl resume " +
                     run.id + ", or remove its machines by benchctl reap --run " + run.id};
  if (kill(holder->pid, SIGTERM) != 0)
    return errno_error("signal the controller (process " + std::to_string(holder->pid) + ")");
  std::cerr << "asked process " << holder->pid << " to stop; waiting until its machines are gone\n";
  for (Deadline end = Deadline::in(*context.clock, std::chrono::milliseconds(kStopMs)); !end.passed(*context.clock);) {
    BENCHCTL_TRY(run, store->run(run.id));
    if (run.outcome != RunOutcome::kRunning) {
      std::cout << "run " << run.id << " " << name_of(run.outcome) << "\n";
      return 0;
    }
    context.clock->sleep(std::chrono::milliseconds(300));
  }
  return Error{ErrorKind::kInterrupted,
               "run " + run.id + " has not stopped within " + format_seconds(kStopMs / 1000.0)};
}

}  // namespace

Verb cancel_verb(Context& context, Parts& parts) {
  auto run = std::make_shared<std::string>();
  return {"cancel", "stop a run: finished rounds are kept, its machines are removed", "benchctl cancel",
          [run](Options& options) {
            options.positional("RUN", *run, false, "run id or a unique beginning; default: the latest");
          },
          [run, &context, &parts] { return cancel(context, parts, *run); }};
}

}  // namespace benchctl
