// `attach RUN`: what a run says, from its beginning and on, until it ends. Ctrl-C detaches; the run goes on.
#include <fcntl.h>
#include <unistd.h>

#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/files.h"

namespace benchctl {
namespace {

// Programs and images may be built first, which takes minutes; the run stands in the store after that.
Result<RunRow> await_begin(Context& context, Parts& parts, Store& store, const std::string& id) {
  const std::string log = parts.runs_dir() + "/" + id + ".log";
  for (bool said = false;; said = true) {
    BENCHCTL_TRY(auto holder, lock_holder(store));
    auto run = store.run(id);
    if (run) return run;
    if (!holder || holder->run != id)
      return Error{run.error().kind,
                   run.error().message + (exists(log) ? ": it ended before any machine was made, see " + log : "")};
    if (!said) std::cerr << "run " << id << " is being prepared by process " << holder->pid << "\n";
    context.clock->sleep(std::chrono::milliseconds(300));
  }
}

Result<int> attach(Context& context, Parts& parts, const std::string& word) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(std::string id, run_to_follow(*store, word));
  BENCHCTL_TRY(RunRow run, await_begin(context, parts, *store, id));
  std::string path = run.folder + "/progress.log";
  UniqueFd log(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!log) return errno_error("open " + path, ErrorKind::kUsage);
  // Said by our own progress lines, sanitised when they were written.
  auto drain = [&] {
    char buffer[65536];
    for (ssize_t count; (count = read(log.get(), buffer, sizeof buffer)) > 0;) std::cerr.write(buffer, count);
  };
  while (true) {
    // The holder first: once nobody executes the run, its row and its log are final.
    BENCHCTL_TRY(auto holder, lock_holder(*store));
    BENCHCTL_TRY(run, store->run(run.id));
    drain();
    if (!holder || holder->run != run.id) break;
    context.clock->sleep(std::chrono::milliseconds(300));
  }
  if (run.outcome == RunOutcome::kRunning)
    return Error{ErrorKind::kInterrupted, "run " + run.id +
                                              " is not finished and nobody executes it; go on by benchctl resume " +
                                              run.id + ", or remove its machines by benchctl reap --run " + run.id};
  auto terminal = read_file(run.folder + "/summary.txt", 1 << 20);
  if (terminal) std::cout << *terminal;
  return run.exit_code.value_or(1);
}

}  // namespace

Verb attach_verb(Context& context, Parts& parts) {
  auto run = std::make_shared<std::string>();
  return {"attach", "follow a run until it ends (Ctrl-C only detaches); exits as the run does", "benchctl attach",
          [run](Options& options) {
            options.positional("RUN", *run, false,
                               "run id or a unique beginning; default: the one that is executed, else the latest");
          },
          [run, &context, &parts] { return attach(context, parts, *run); }};
}

}  // namespace benchctl
