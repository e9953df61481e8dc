#include "controller/cli/watchdog.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "controller/cli/detached.h"
#include "controller/cli/process.h"
#include "controller/cli/verbs.h"
#include "lib/text.h"
#include "provisioning/lifecycle.h"

namespace benchctl {
namespace {

// How often the store is looked at once the controller is gone; nothing is measured by then, or another one is there.
constexpr Nanos kPause = std::chrono::seconds(5);

// Blocks until process `pid` has ended; at once when it is gone already. No polling: a run may be measuring here.
void wait_for_end(int pid) {
  UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return;
  pollfd ended{process.get(), POLLIN, 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
}

// Seconds at which the first of the run's machines that still stand expires; nullopt: none stands.
Result<std::optional<int64_t>> first_expiry(Store& store, const std::string& run) {
  BENCHCTL_TRY(auto machines, store.live_machines());
  std::optional<int64_t> first;
  for (const MachineRow& machine : machines) {
    if (machine.lease.run != run) continue;
    int64_t expiry = std::max(machine.lease.expires_unix, machine.keep_until_ms / 1000);
    first = std::min(first.value_or(expiry), expiry);
  }
  return first;
}

Result<int> watch(Context& context, Parts& parts, const std::string& word, int64_t controller) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(RunRow run, store->run(word));
  auto alone = FileLock::take(run.folder + "/watchdog.lock", "pid " + std::to_string(getpid()));
  if (!alone) return 0;
  if (controller > 1) wait_for_end(static_cast<int>(controller));
  while (true) {
    BENCHCTL_TRY(auto expiry, first_expiry(*store, run.id));
    if (!expiry) return 0;
    // Somebody goes on with the run: what may be measured here is not disturbed by looking.
    if (auto holder = lock_holder(*store); holder && *holder && (*holder)->run == run.id) {
      wait_for_end((*holder)->pid);
      continue;
    }
    if (context.clock->unix_ms() / 1000 >= *expiry) {
      StoreBook book = lease_book(*store, parts);
      ReapOptions options;
      BENCHCTL_TRY(options.owner, store->owner());
      options.now_unix = context.clock->unix_ms() / 1000;
      // What cannot be removed now may be later: it is tried until it is gone.
      (void)reap(usable_providers(parts), book, options, *context.clock);
    }
    context.clock->sleep(kPause);
  }
}

}  // namespace

RunWatchdog::RunWatchdog(const RunRow& run, Store& store) : store_(store), run_(run.id) {
  std::vector<std::string> environment = environment_with({});
  std::erase_if(environment, [](const std::string& entry) { return entry.starts_with("BENCHCTL_FAILPOINT="); });
  pid_ = start_detached({"benchctl", "watchdog", "--run", run.id, "--controller", std::to_string(getpid())},
                        environment, run.folder + "/watchdog.log");
}

RunWatchdog::~RunWatchdog() {
  if (pid_ <= 0) return;
  if (auto expiry = first_expiry(store_, run_); !expiry || *expiry) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Verb watchdog_verb(Context& context, Parts& parts) {
  auto run = std::make_shared<std::string>();
  auto controller = std::make_shared<int64_t>(0);
  return {"watchdog",
          "started by run and resume: removes a run's machines when they expire and nobody is left to do it",
          "benchctl watchdog --run local-20261130-191056-1f2e",
          [run, controller](Options& options) {
            options.text("--run", *run, "the run's id (required)");
            options.integer("--controller", *controller, 0, INT32_MAX, "wait for the end of this process first");
          },
          [run, controller, &context, &parts]() -> Result<int> {
            if (run->empty()) return Error{ErrorKind::kUsage, "--run is missing"};
            return watch(context, parts, *run, *controller);
          }};
}

}  // namespace benchctl
