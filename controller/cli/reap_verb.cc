// `reap`: machines that should not be there any more, by the store and by what the providers list under our tag.
#include <algorithm>
#include <iostream>

#include "controller/cli/verbs.h"
#include "controller/fleet/lease_book.h"

namespace benchctl {
namespace {

const char* name_of(ReapAction action) {
  switch (action) {
    case ReapAction::kLeft:
      return "left";
    case ReapAction::kWouldDestroy:
      return "would be removed";
    case ReapAction::kDestroyed:
      return "removed";
    case ReapAction::kFailed:
      return "NOT REMOVED";
  }
  return "";
}

// A run whose controller died stays "running" in the store: nobody else will end it.
Status close_dead_runs(Store& store, Parts& parts, const std::string& only) {
  BENCHCTL_TRY(auto runs, store.runs());
  BENCHCTL_TRY(auto live, store.live_machines());
  // The holder last: a run that begins meanwhile is not among those that were read.
  BENCHCTL_TRY(auto holder, lock_holder(store));
  for (const RunRow& run : runs) {
    if (run.outcome != RunOutcome::kRunning || (holder && holder->run == run.id) || (!only.empty() && run.id != only))
      continue;
    bool has_machine =
        std::any_of(live.begin(), live.end(), [&](const MachineRow& machine) { return machine.lease.run == run.id; });
    if (has_machine) continue;
    BENCHCTL_CHECK(parts.forget_run_identity(run.id));
    BENCHCTL_CHECK(store.finish_run(run.id, RunOutcome::kInterrupted, exit_code(ErrorKind::kInterrupted),
                                    "its controller ended without a word; its machines are gone"));
  }
  return {};
}

// `probe` and `harden` take a machine that is kept under a name of their own, which no run of the store has.
bool has_machine_of(const std::map<std::string, Provider*>& providers, const std::string& owner,
                    const std::string& run) {
  for (const auto& entry : providers) {
    auto machines = entry.second->list(owner);
    if (machines &&
        std::any_of(machines->begin(), machines->end(), [&](const Machine& machine) { return machine.run == run; }))
      return true;
  }
  return false;
}

struct Arguments {
  std::string run;
  bool dry_run = false;
  bool json = false;
};

Result<int> run_reap(Context& context, Parts& parts, const Arguments& arguments) {
  BENCHCTL_TRY(Store * store, parts.store());
  StoreBook book = lease_book(*store, parts);
  ReapOptions options;
  BENCHCTL_TRY(options.owner, store->owner());
  auto providers = usable_providers(parts);
  if (!arguments.run.empty()) {
    auto run = find_run(*store, arguments.run);
    if (!run && !has_machine_of(providers, options.owner, arguments.run)) return run.error();
    options.run = run ? run->id : arguments.run;
  }
  options.now_unix = context.clock->unix_ms() / 1000;
  options.dry_run = arguments.dry_run;
  BENCHCTL_TRY(auto reaped, reap(providers, book, options, *context.clock));
  bool failed = false;
  Json all = Json::array();
  for (const Reaped& one : reaped) {
    failed = failed || one.action == ReapAction::kFailed;
    if (arguments.json) {
      Json json = Json::object();
      json.set("machine", one.machine.name);
      json.set("run", one.machine.run);
      json.set("action", name_of(one.action));
      json.set("why", one.why);
      all.push(std::move(json));
    } else {
      std::cout << one.machine.name << "  run " << one.machine.run << "  " << name_of(one.action) << ": " << one.why
                << "\n";
    }
  }
  if (!arguments.dry_run) BENCHCTL_CHECK(close_dead_runs(*store, parts, options.run));
  if (arguments.json) {
    std::cout << all.dump() << "\n";
  } else if (reaped.empty()) {
    std::cout << "no machines\n";
  }
  return failed ? exit_code(ErrorKind::kLeaked) : 0;
}

}  // namespace

Verb reap_verb(Context& context, Parts& parts) {
  auto a = std::make_shared<Arguments>();
  return {"reap", "remove machines that are expired, orphaned or left by finished runs", "benchctl reap --dry-run",
          [a](Options& options) {
            options.text("--run", a->run, "all machines of this run, due or not");
            options.flag("--dry-run", a->dry_run, "only say what would be removed");
            options.flag("--json", a->json, "as JSON");
          },
          [a, &context, &parts] { return run_reap(context, parts, *a); }};
}

}  // namespace benchctl
