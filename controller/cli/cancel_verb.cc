// `cancel RUN`: asks the run's controller to stop: the running trial ends, what is sealed comes home, machines go.
#include <csignal>
#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kStopMs = 10 * 60'000;  // of a run: stop, seal, pull, destroy

Error no_controller(const std::string& id) {
  return Error{ErrorKind::kInterrupted,
               "run " + id + " has no controller any more; bring home what has finished by benchctl resume " + id +
                   ", or remove its machines by benchctl reap --run " + id};
}

Result<int> cancel(Context& context, Parts& parts, const std::string& word) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(std::string id, run_to_follow(*store, word));
  bool asked = false;
  for (Deadline end = Deadline::in(*context.clock, std::chrono::milliseconds(kStopMs)); !end.passed(*context.clock);) {
    // The holder first: once nobody executes the run, its row is final.
    BENCHCTL_TRY(auto holder, lock_holder(*store));
    auto run = store->run(id);
    if (run && run->outcome != RunOutcome::kRunning) {
      std::cout << "run " << id << (asked ? " " : " has ended: ") << name_of(run->outcome) << "\n";
      return 0;
    }
    if (!holder || holder->run != id) {
      if (run) return no_controller(id);
      std::cout << "run " << id << " ended before any machine was made\n";
      return 0;
    }
    if (!asked) {
      if (kill(holder->pid, SIGTERM) != 0)
        return errno_error("signal the controller (process " + std::to_string(holder->pid) + ")");
      std::cerr << "asked process " << holder->pid << " to stop; waiting until its machines are gone\n";
      asked = true;
    }
    context.clock->sleep(std::chrono::milliseconds(300));
  }
  return Error{ErrorKind::kInterrupted, "run " + id + " has not stopped within " + format_seconds(kStopMs / 1000.0)};
}

}  // namespace

Verb cancel_verb(Context& context, Parts& parts) {
  auto run = std::make_shared<std::string>();
  return {"cancel", "stop a run: finished rounds are kept, its machines are removed", "benchctl cancel",
          [run](Options& options) {
            options.positional("RUN", *run, false, "run id or a unique beginning; default: the one that is executed");
          },
          [run, &context, &parts] { return cancel(context, parts, *run); }};
}

}  // namespace benchctl
