#include "controller/cli/run_pipeline.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <set>

#include "controller/analysis/analysis_client.h"
#include "controller/cli/run_claims.h"
#include "controller/cli/run_inputs.h"
#include "controller/cli/ship.h"
#include "controller/cli/signals.h"
#include "controller/cli/terminal_progress.h"
#include "controller/cli/watchdog.h"
#include "controller/fleet/execute.h"
#include "controller/harden/profile.h"
#include "controller/plan/plan_reader.h"
#include "controller/plan/plan_text.h"
#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/providers/host_lock.h"

namespace benchctl {
namespace {

constexpr int64_t kReportMs = 10 * 60'000;

// What cannot work is said before minutes go into builds and images.
Status check_providers(const Plan& plan, Parts& parts) {
  for (const auto& [name, fleet] : plan.fleets) {
    Provider* provider = parts.provider(fleet.spec.provider);
    if (provider == nullptr)
      return Error{ErrorKind::kUsage, "provider " + fleet.spec.provider + " is not available in this version"};
    if (auto can = provider->check(fleet.spec); !can) return can.error().in("provider " + fleet.spec.provider);
  }
  return {};
}

// Shared things of a provider, made before any machine is asked for.
Status prepare_providers(const Plan& plan, Parts& parts, Progress& progress) {
  for (const auto& [name, fleet] : plan.fleets)
    BENCHCTL_CHECK(parts.provider(fleet.spec.provider)->prepare(fleet.spec, [&](const std::string& line) {
      progress.say("", line);
    }));
  return {};
}

// A machine costs money and a measurement time: neither for results that have no place.
Status check_space(const std::string& folder, int64_t least) {
  BENCHCTL_TRY(int64_t free, free_bytes(folder));
  if (free >= least) return {};
  return Error{ErrorKind::kUsage, "only " + format_bytes(free) + " are free below " + folder +
                                      ", and a run begins with " + format_bytes(least) +
                                      " or more: free some space (or set BENCHCTL_MIN_FREE)"};
}

// New and ours: a folder or link that somebody has put there would lead our writes astray.
Status make_run_folder(const std::string& runs_dir, const std::string& id) {
  BENCHCTL_CHECK(make_dirs(runs_dir));
  const std::string folder = runs_dir + "/" + id;
  if (mkdir(folder.c_str(), 0700) == 0) return {};
  if (errno == EEXIST)
    return Error{ErrorKind::kUsage,
                 folder + " is there already, and a run begins in a folder of its own: choose another --id"};
  return errno_error("mkdir " + folder, ErrorKind::kUsage);
}

// `attach`, `cancel`, `reap` and the watchdog look at the lock by taking it for a moment: such a holder names no run,
// or has not come to say anything.
bool only_looks(const Error& error) {
  return error.message.find("held by run ,") != std::string::npos ||
         error.message.find("did not say its name") != std::string::npos;
}

Result<FileLock> take_store(Store& store, const std::string& id, Clock& clock) {
  auto lock = store.lock(id);
  for (int again = 0; !lock && again < 40 && only_looks(lock.error()); ++again) {
    clock.sleep(std::chrono::milliseconds(50));
    lock = store.lock(id);
  }
  if (lock || lock.error().kind != ErrorKind::kInterrupted) return lock;
  return Error{ErrorKind::kInterrupted,
               lock.error().message + "; wait for it (benchctl attach), or set BENCHCTL_HOME to another folder"};
}

RunRow begin_row(const RunRequest& request, const RunInput& input, Clock& clock) {
  RunRow row;
  row.id = input.id;
  row.plan_name = request.plan.name;
  row.plan_sha256 = request.plan.sha256;
  row.plan_text = resolved_toml(request.plan);
  row.seed = request.plan.schedule.seed;
  row.created_ms = clock.unix_ms();
  row.folder = input.folder;
  row.controller_version = BENCHCTL_VERSION;
  return row;
}

RunOutcome outcome_of(int code) {
  if (code == 0) return RunOutcome::kGood;
  return code == exit_code(ErrorKind::kInterrupted) ? RunOutcome::kInterrupted : RunOutcome::kFailed;
}

Json outcome_json(const RunRow& row, const RunOutcomeReport& report, int code, const std::string& reason,
                  const std::vector<std::string>& files, const Json& claims) {
  Json json = Json::object();
  json.set("run", row.id);
  json.set("exit_code", code);
  json.set("reason", reason);
  json.set("folder", row.folder);
  Json machines = Json::array();
  for (const MachineOutcome& machine : report.machines) {
    Json one = Json::object();
    one.set("machine", machine.machine);
    one.set("trials_ok", machine.trials_ok);
    one.set("trials_failed", static_cast<int64_t>(machine.failed.size()));
    machines.push(std::move(one));
  }
  json.set("machines", std::move(machines));
  json.set("files", files);
  json.set("claims", claims);
  return json;
}

}  // namespace

std::string new_run_id(const std::string& plan_name, Clock& clock) {
  std::string slug;
  for (char c : plan_name) {
    char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    slug += valid_id(std::string(1, lower)) ? lower : '-';
  }
  std::string time;  // 2026-11-30T19:10:56.123Z -> 20261130-191056
  for (char c : format_utc(clock.unix_ms()).substr(0, 19))
    if (c == 'T')
      time += '-';
    else if (c >= '0' && c <= '9')
      time += c;
  return slug.substr(0, 32) + "-" + time + "-" + random_hex(2);
}

Result<ReportAnswer> make_report(Context& context, Parts& parts, const RunRow& run, bool redact) {
  // It may have been cleared away: the samples are in the store.
  BENCHCTL_CHECK(make_dirs(run.folder));
  Json request = Json::object();
  request.set("protocol", 1);
  request.set("verb", "report");
  request.set("store", parts.store_path());
  request.set("run", run.id);
  request.set("out", run.folder);
  request.set("width", context.width);
  request.set("redact", redact);
  request.set("colour", context.colour);
  BENCHCTL_TRY(RunClaims saved, saved_claims(run.folder));
  request.set("claims", std::move(saved.claims));
  AnalysisEnv environment = analysis_env(context.source_root, context.python);
  BENCHCTL_TRY(Json answer, analyse(request, environment, *context.clock,
                                    Deadline::in(*context.clock, std::chrono::milliseconds(kReportMs))));
  ReportAnswer report;
  report.terminal = answer["terminal"].as_string();
  report.files = answer["files"].as_strings();
  report.checks_disagree = answer["checks_disagree"].as_bool();
  report.claims = answer["claims"];
  if (saved.required) report.unmet_claims = unmet_claims(report.claims);
  BENCHCTL_CHECK(write_atomic(run.folder + "/summary.txt", report.terminal + "\n", 0644));
  return report;
}

namespace {

Status take_profile(Context& context, RunInput& input) {
  if (input.plan.harden_profile == "none") return {};
  BENCHCTL_TRY(input.harden, load_harden_profile(context.source_root, input.plan.harden_profile));
  return {};
}

// Everything from the first machine to the exit code. `row` stands in the store.
Result<int> conduct(Context& context, Parts& parts, Store& store, const RunRow& row, const RunInput& input,
                    TerminalProgress& progress, StopRequest& stop, bool json) {
  const std::string& id = row.id;
  RunWorld world{store,
                 [&](const std::string& name) { return parts.provider(name); },
                 [&] { return parts.make_identity(); },
                 [] { return random_hex(6); },
                 [&](Deadline deadline) {
                   return take_host_turn(
                       "run " + id, *context.clock, deadline, [&] { return stop.requested(); },
                       [&](const std::string& held) {
                         progress.say("", "waiting for the turn on this computer, " + held +
                                              "; the ttl runs on, and Ctrl-C ends the wait");
                       });
                 },
                 parts.connector(),
                 *context.clock,
                 *context.failpoints,
                 progress,
                 stop};
  RunOutcomeReport report;
  {
    RunWatchdog watchdog(row, store);
    if (watchdog.failed()) progress.say("", "no watchdog could be started: if benchctl is killed, use reap");
    report = execute(input, world);
  }
  int code = report.exit_code();
  std::string reason = report.reason();
  // Nothing was missing and nobody did anything: the run stays as it ended.
  if (code == 0 && report.machines.empty() && row.exit_code.value_or(0) == exit_code(ErrorKind::kRejected)) {
    code = *row.exit_code;
    reason = row.reason;
  }
  auto also = [&](int more, const std::string& words) {
    code = code == 0 ? more : worse_exit_code(code, more);
    reason += (reason.empty() ? "" : "\n") + words;
  };
  // Whoever resumes needs the key of machines that stand.
  auto live = store.live_machines();
  bool stands = !live || std::any_of(live->begin(), live->end(),
                                     [&](const MachineRow& machine) { return machine.lease.run == id; });
  if (!stands) {
    if (auto forgotten = parts.forget_run_identity(id); !forgotten) also(1, forgotten.error().message);
  }
  // The report shows the run as ended; what only the report finds is added afterwards.
  auto finish = [&] { return store.finish_run(id, outcome_of(code), code, reason); };
  if (auto finished = finish(); !finished) also(1, finished.error().message);
  int code_before_report = code;
  progress.now("", "writing the report");
  auto written = make_report(context, parts, row, input.plan.redact);
  if (!written) {
    progress.say("", "no report: " + written.error().message +
                         "; the samples are safe, write it later by: benchctl report " + id);
    if (code == 0) also(1, written.error().message);
  } else if (written->checks_disagree) {
    also(exit_code(ErrorKind::kWorkload),
         "checks or traces disagree between arms: their comparison is refused, see the report");
  }
  if (written && !written->unmet_claims.empty()) also(exit_code(ErrorKind::kRegression), written->unmet_claims);
  if (code_before_report != code) {
    if (auto finished = finish(); !finished) also(1, finished.error().message);
  }
  progress.say("",
               code == 0 ? "run " + id + " is good" : "run " + id + " ended with exit code " + std::to_string(code));
  progress.settle();
  if (json) {
    std::cout << outcome_json(row, report, code, reason, written ? written->files : std::vector<std::string>{},
                              written ? written->claims : Json::array())
                     .dump()
              << "\n";
  } else if (written) {
    std::cout << written->terminal << "\n";
  }
  if (code != 0)
    for (std::string_view line : split(reason, '\n')) std::cerr << "benchctl: " << sanitize(line, 4000) << "\n";
  if (code == exit_code(ErrorKind::kInterrupted))
    std::cerr << "benchctl: the rounds that are missing run by: benchctl resume " << id << "\n";
  return code;
}

struct Interruption {
  StopRequest stop;
  std::atomic<bool> begun = false;  // the run stands in the store
};

// Outlives the signal watcher's thread.
Interruption& stop_on_signals(const std::string& id) {
  static Interruption interruption;
  watch_signals(interruption.stop, [id] {
    std::cerr << "\nbenchctl: ended at once; ";
    if (interruption.begun)
      std::cerr << "machines may be left. Go on by: benchctl resume " << id
                << "\nbenchctl: or remove them by: benchctl reap --run " << id << "\n";
    else
      std::cerr << "no machine had been made\n";
  });
  return interruption;
}

}  // namespace

Result<FileLock> claim_new_run(Store& store, const std::string& id, Clock& clock) {
  if (!valid_id(id))
    return Error{ErrorKind::kUsage, "a run id is 1 to 64 of a-z, 0-9 and -: not \"" + sanitize(id, 80) + "\""};
  BENCHCTL_TRY(FileLock lock, take_store(store, id, clock));
  if (store.run(id)) return Error{ErrorKind::kUsage, "there is a run " + id + " already; choose another --id"};
  return lock;
}

Result<int> carry_out(Context& context, Parts& parts, const RunRequest& request) {
  const Plan& plan = request.plan;
  TerminalProgress progress(*context.clock, context.terminal_errors);
  for (const std::string& warning : plan.warnings) progress.say("", warning);
  BENCHCTL_TRY(Store * store, parts.store());
  std::string id = request.id.empty() ? new_run_id(plan.name, *context.clock) : request.id;
  BENCHCTL_TRY(FileLock lock, claim_new_run(*store, id, *context.clock));

  Interruption& interruption = stop_on_signals(id);
  StopRequest& stop = interruption.stop;
  RunInput input;
  input.id = id;
  input.plan = plan;
  input.keep_ms = request.keep_ms;
  input.agent_binary = context.agent;
  input.folder = request.runs_dir + "/" + id;
  BENCHCTL_CHECK(check_providers(plan, parts));
  BENCHCTL_CHECK(make_dirs(request.runs_dir));
  for (const std::string& folder : {request.runs_dir, context.home})
    BENCHCTL_CHECK(check_space(folder, context.min_free_bytes));
  BENCHCTL_TRY(input.workloads, parts.workloads());
  BENCHCTL_CHECK(take_profile(context, input));
  BENCHCTL_TRY(Shipment shipment,
               make_bundles(context, plan, input.workloads, progress, [&] { return stop.requested(); }));
  for (const BuiltBundle& bundle : shipment.bundles)
    input.bundles[bundle.key] = {bundle.row.sha256, bundle.folder, bundle.row.manifest};
  input.unbuilt = shipment.unbuilt;
  BENCHCTL_CHECK(prepare_providers(plan, parts, progress));
  if (stop.requested()) return Error{ErrorKind::kInterrupted, "stopped before any machine was made"};

  RunRow row = begin_row(request, input, *context.clock);
  BENCHCTL_CHECK(make_run_folder(request.runs_dir, id));
  // A run that stands in the store can be resumed: what that needs is written before.
  BENCHCTL_CHECK(save_inputs(context, input));
  BENCHCTL_CHECK(save_claims(row.folder, request.claims));
  for (const BuiltBundle& bundle : shipment.bundles) BENCHCTL_CHECK(store->save_bundle(bundle.row));
  BENCHCTL_CHECK(store->begin_run(row));
  interruption.begun = true;
  BENCHCTL_CHECK(context.failpoints->reach("run:begun"));
  progress.log_to(row.folder + "/progress.log");
  progress.say("", "run " + id + " in " + row.folder);
  BENCHCTL_TRY(input.identity, parts.new_run_identity(id));
  return conduct(context, parts, *store, row, input, progress, stop, request.json);
}

Result<int> carry_on(Context& context, Parts& parts, const std::string& word, bool json) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(RunRow row, find_run(*store, word));
  BENCHCTL_TRY(FileLock lock, take_store(*store, row.id, *context.clock));
  BENCHCTL_TRY(row, store->run(row.id));
  if (row.outcome == RunOutcome::kGood) {
    std::cout << "run " << row.id << " is complete: nothing is missing\n";
    return 0;
  }
  TerminalProgress progress(*context.clock, context.terminal_errors);
  Interruption& interruption = stop_on_signals(row.id);
  interruption.begun = true;
  RunInput input;
  input.id = row.id;
  input.folder = row.folder;
  input.resume = true;
  BENCHCTL_TRY(input.workloads, parts.workloads());
  // The resolved plan is the run's own: --set and defaults of its day are in it.
  BENCHCTL_TRY(input.plan,
               read_plan({"the plan of run " + row.id, row.plan_text, "", host_shape()}, input.workloads, {}));
  BENCHCTL_CHECK(parts.check_policy(input.plan, false));
  BENCHCTL_CHECK(load_inputs(row.folder, input));
  BENCHCTL_CHECK(prepare_providers(input.plan, parts, progress));
  BENCHCTL_CHECK(store->reopen_run(row.id));
  progress.log_to(row.folder + "/progress.log");
  progress.say("", "run " + row.id + " goes on in " + row.folder);
  BENCHCTL_TRY(input.identity, parts.run_identity(row.id));
  return conduct(context, parts, *store, row, input, progress, interruption.stop, json);
}

}  // namespace benchctl
