// `status`: the runs; `status RUN`: what one has done so far; `--timing`: where each second went.
#include <cstdio>
#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct Arguments {
  std::string run;
  bool timing = false;
  bool json = false;
};

Json run_json(const RunRow& run) {
  Json json = Json::object();
  json.set("run", run.id);
  json.set("plan", run.plan_name);
  json.set("created", format_utc(run.created_ms));
  json.set("finished", run.finished_ms ? Json(format_utc(*run.finished_ms)) : Json());
  json.set("outcome", name_of(run.outcome));
  json.set("exit_code", run.exit_code ? Json(*run.exit_code) : Json());
  json.set("reason", run.reason);
  json.set("folder", run.folder);
  return json;
}

Json step_json(const StepRow& step) {
  Json json = Json::object();
  json.set("step", step.name);
  json.set("begin_ms", step.intent_ms);
  json.set("seconds", step.done_ms ? Json(static_cast<double>(*step.done_ms - step.intent_ms) / 1000) : Json());
  json.set("outcome", !step.done_ms ? "unfinished" : step.ok ? "ok" : "failed");
  json.set("channels", step.channels);
  json.set("detail", step.detail);
  return json;
}

Result<Json> details(Store& store, const RunRow& run) {
  Json json = run_json(run);
  Json machines = Json::array();
  BENCHCTL_TRY(auto rows, store.machines(run.id));
  BENCHCTL_TRY(auto trials, store.trials(run.id));
  for (const MachineRow& machine : rows) {
    Json one = Json::object();
    one.set("machine", machine.lease.name);
    one.set("provider", machine.spec.provider);
    one.set("state", name_of(machine.state));
    one.set("reason", machine.reason);
    double seconds = 0;
    for (const TrialRow& trial : trials) seconds += trial.machine == machine.id ? trial.seconds : 0;
    one.set("trial_seconds", seconds);
    Json steps = Json::array();
    BENCHCTL_TRY(auto done, store.steps(machine.id));
    for (const StepRow& step : done) steps.push(step_json(step));
    one.set("steps", std::move(steps));
    machines.push(std::move(one));
  }
  json.set("machines", std::move(machines));
  Json verdicts = Json::array();
  BENCHCTL_TRY(auto counts, store.verdicts(run.id));
  for (const VerdictCount& count : counts) {
    Json one = Json::object();
    one.set("verdict", count.verdict);
    one.set("scored", count.scored);
    one.set("trials", count.trials);
    verdicts.push(std::move(one));
  }
  json.set("trials", std::move(verdicts));
  return json;
}

void print_timing(const Json& machine) {
  double known = 0;
  std::cout << machine["machine"].as_string() << "\n";
  for (const Json& step : machine["steps"].as_array()) {
    char line[160];
    double seconds = step["seconds"].as_double(-1);
    known += seconds > 0 ? seconds : 0;
    std::snprintf(line, sizeof line, "  %-24s %9s  %3d channels  %s", step["step"].as_string().c_str(),
                  seconds < 0 ? "…" : format_seconds(seconds).c_str(), static_cast<int>(step["channels"].as_int()),
                  step["outcome"].as_string().c_str());
    std::cout << line << (step["detail"].as_string().empty() ? "" : "  " + step["detail"].as_string()) << "\n";
  }
  auto steps = machine["steps"].as_array();
  if (steps.empty() || !steps.back()["seconds"].is_number()) return;
  int64_t channels = 0;
  for (const Json& step : steps) channels += step["channels"].as_int();
  double whole = static_cast<double>(steps.back()["begin_ms"].as_int() - steps.front()["begin_ms"].as_int()) / 1000 +
                 steps.back()["seconds"].as_double();
  double trials = machine["trial_seconds"].as_double();
  std::cout << "  trials " << format_seconds(trials) << ", steps " << format_seconds(known)
            << ", waiting for quiet or its turn " << format_seconds(whole - known - trials) << "; "
            << format_seconds(whole) << " in all, " << channels << " channels\n";
}

void print_run(const Json& json, bool timing) {
  std::cout << json["run"].as_string() << "  " << json["plan"].as_string() << "  " << json["outcome"].as_string();
  if (json["exit_code"].is_int()) std::cout << " (exit " << json["exit_code"].as_int() << ")";
  std::cout << "\n  begun " << json["created"].as_string();
  if (json["finished"].is_string()) std::cout << ", ended " << json["finished"].as_string();
  std::cout << "\n  folder " << json["folder"].as_string() << "\n";
  for (std::string_view line : split(json["reason"].as_string(), '\n'))
    if (!line.empty()) std::cout << "  " << line << "\n";
  for (const Json& count : json["trials"].as_array())
    std::cout << "  " << count["trials"].as_int() << (count["scored"].as_bool() ? " scored" : " unscored") << " trials "
              << count["verdict"].as_string() << "\n";
  for (const Json& machine : json["machines"].as_array()) {
    std::cout << "  machine " << machine["machine"].as_string() << " (" << machine["provider"].as_string() << ") "
              << machine["state"].as_string()
              << (machine["reason"].as_string().empty() ? "" : ": " + machine["reason"].as_string()) << "\n";
  }
  if (timing)
    for (const Json& machine : json["machines"].as_array()) print_timing(machine);
}

Result<int> show(Parts& parts, const Arguments& arguments) {
  BENCHCTL_TRY(Store * store, parts.store());
  if (arguments.run.empty() && !arguments.timing) {
    BENCHCTL_TRY(auto runs, store->runs());
    Json all = Json::array();
    for (const RunRow& run : runs) all.push(run_json(run));
    if (arguments.json) {
      std::cout << all.dump() << "\n";
    } else if (runs.empty()) {
      std::cout << "no runs yet; begin with: benchctl run --plan plans/local.toml\n";
    } else {
      for (const RunRow& run : runs)
        std::cout << run.id << "  " << name_of(run.outcome) << "  " << format_utc(run.created_ms) << "  "
                  << run.plan_name << "\n";
    }
    return 0;
  }
  BENCHCTL_TRY(RunRow run, find_run(*store, arguments.run));
  BENCHCTL_TRY(Json json, details(*store, run));
  if (arguments.json) {
    std::cout << json.dump() << "\n";
  } else {
    print_run(json, arguments.timing);
  }
  return 0;
}

}  // namespace

Verb status_verb(Context&, Parts& parts) {
  auto arguments = std::make_shared<Arguments>();
  return {"status", "list the runs, or show one", "benchctl status --timing",
          [arguments](Options& options) {
            options.positional("RUN", arguments->run, false,
                               "run id or a unique beginning of one; without --timing: all runs");
            options.flag("--timing", arguments->timing, "where each second went, and the SSH channels used");
            options.flag("--json", arguments->json, "as JSON");
          },
          [arguments, &parts] { return show(parts, *arguments); }};
}

}  // namespace benchctl
