#include "controller/plan/plan_text.h"

#include <algorithm>

#include "controller/plan/estimate.h"
#include "controller/plan/plan_reader.h"
#include "controller/plan/points.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Whether a machine shares its cores with this computer, so that its numbers say nothing about speed.
bool functional(const Plan& plan) {
  for (const auto& [name, fleet] : plan.fleets)
    if (fleet.spec.provider != "ssh") return true;
  return false;
}

std::string plural(int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string machine_text(const Fleet& fleet, const MachineShape& host) {
  std::string text = std::to_string(fleet.count) + " x " + fleet.spec.provider;
  if (!fleet.spec.image.empty()) text += " " + sanitize(fleet.spec.image, 80);
  text += ", " + fleet.spec.arch + ", " + plural(cpus_of(fleet, host), "CPU");
  for (const auto& [name, value] : fleet.spec.options) text += ", " + name + " " + sanitize(value, 80);
  return text;
}

std::string arms_text(const Plan& plan, const Suite& suite) {
  std::vector<std::string> arms;
  for (const std::string& arm : suite.arms)
    arms.push_back(arm + (arm == suite.baseline && suite.arms.size() > 1 ? " (baseline)" : ""));
  if (plan.schedule.aa && suite.arms.size() > 1)
    arms.push_back(suite.baseline + " again (A/A" +
                   (suite.format == "concurrent" ? ", at the fewest and most workers)" : ")"));
  return join(arms, ", ");
}

std::string params_text(const Suite& suite) {
  std::vector<std::string> parts;
  for (const auto& [name, values] : suite.params) parts.push_back(name + " = " + sanitize(join(values, " | "), 200));
  return join(parts, ", ");
}

std::string schedule_text(const Schedule& schedule) {
  return schedule.order + " order, seed " + std::to_string(schedule.seed) + ", " +
         plural(schedule.warmup_rounds, "warm-up round") + ", " + plural(schedule.runs, "scored round");
}

std::string size_text(const Estimate& total) {
  return plural(total.trials, "trial") + " on " + plural(total.machines, "machine") + ", about " +
         format_seconds(total.seconds);
}

void print_line(std::ostream& out, std::string label, const std::string& text) {
  label.resize(10, ' ');
  out << label << text << "\n";
}

Json fleet_json(const std::string& name, const Fleet& fleet, const MachineShape& host) {
  Json json = Json::object();
  json.set("fleet", name);
  json.set("provider", fleet.spec.provider);
  json.set("count", fleet.count);
  json.set("image", fleet.spec.image);
  json.set("arch", fleet.spec.arch);
  json.set("cpus", cpus_of(fleet, host));
  Json options = Json::object();
  for (const auto& [key, value] : fleet.spec.options) options.set(key, value);
  json.set("options", std::move(options));
  return json;
}

Json suite_json(const Suite& suite) {
  Json json = Json::object();
  json.set("suite", suite.name);
  json.set("workload", suite.workload);
  json.set("mode", suite.mode);
  json.set("command", suite.command);
  json.set("format", suite.format);
  json.set("arms", suite.arms);
  json.set("baseline", suite.baseline);
  json.set("isa", suite.isa);
  json.set("skip_unbuilt", suite.skip_unbuilt);
  Json params = Json::object();
  for (const auto& [name, values] : suite.params) params.set(name, values);
  json.set("params", std::move(params));
  return json;
}

// The points on the first fleet's machines: fleets of other CPU counts have others.
Json points_json(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host) {
  Json points = Json::array();
  if (plan.fleets.empty()) return points;
  for (const Point& point : points_of(plan, workloads, cpus_of(plan.fleets.begin()->second, host))) {
    Json json = Json::object();
    json.set("suite", plan.suites[point.suite].name);
    json.set("point", point.label);
    json.set("aa", point.aa);
    json.set("point_hash", point.hash);
    json.set("definition_hash", point.definition_hash);
    points.push(std::move(json));
  }
  return points;
}

void print_show(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host, std::ostream& out) {
  Estimate total = estimate(plan, workloads, host);
  print_line(out, "plan", plan.name + " (" + plan.file + ")");
  print_line(out, "sha256", plan.sha256);
  print_line(out, "root", sanitize(plan.root, 400));
  for (const auto& [name, fleet] : plan.fleets) print_line(out, "machines", name + ": " + machine_text(fleet, host));
  print_line(out, "schedule", schedule_text(plan.schedule));
  print_line(out, "limits",
             "ttl " + format_seconds(static_cast<double>(plan.limits.ttl_ms) / 1000) + ", a trial " +
                 format_seconds(static_cast<double>(plan.limits.trial_timeout_ms) / 1000));
  print_line(out, "harden", plan.harden_profile == "none" ? "none: the machines as they are" : plan.harden_profile);
  if (!plan.claims.empty()) print_line(out, "claims", sanitize(join(plan.claims, ", "), 400));
  for (const Suite& suite : plan.suites) {
    print_line(out, "suite",
               suite.name + (suite.command.empty() ? "" : ": " + sanitize(shell_quote(suite.command), 300)));
    print_line(out, "  arms", arms_text(plan, suite));
    if (!suite.params.empty()) print_line(out, "  params", params_text(suite));
  }
  print_line(out, "points", std::to_string(total.points));
  print_line(out, "trials", size_text(total) + (total.has_command ? " (own programs counted as 1 s a trial)" : ""));
  print_line(out, "cost", "free");
  if (functional(plan))
    print_line(out, "numbers", "functional: these machines are parts of this computer and share its cores");
  for (const std::string& need : trust_needs(plan))
    print_line(out, "trust", need + " on this computer: needs --trust-plan");
  for (const std::string& warning : plan.warnings) out << warning << "\n";
}

Status flushed(std::ostream& out) {
  out.flush();
  return out ? Status{} : Error{ErrorKind::kInternal, "the output could not be written in full"};
}

}  // namespace

Status check_plan(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host, bool json,
                  std::ostream& out) {
  if (json) {
    out << plan_check_json(plan.file, plan).dump_pretty() << "\n";
  } else {
    out << plan.file << ": good: " << size_text(estimate(plan, workloads, host)) << "\n";
    for (const std::string& warning : plan.warnings) out << warning << "\n";
  }
  return flushed(out);
}

Json plan_check_json(const std::string& file, const Result<Plan>& plan) {
  Json json = Json::object();
  json.set("file", file);
  json.set("good", plan.ok());
  Json errors = Json::array();
  if (!plan.ok())
    for (std::string_view line : split(plan.error().message, '\n')) errors.push(line);
  json.set("errors", std::move(errors));
  json.set("warnings", plan.ok() ? plan->warnings : std::vector<std::string>{});
  json.set("sha256", plan.ok() ? Json(plan->sha256) : Json());
  return json;
}

Status show_plan(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host, bool json,
                 std::ostream& out) {
  if (json) {
    out << plan_show_json(plan, workloads, host).dump_pretty() << "\n";
  } else {
    print_show(plan, workloads, host, out);
  }
  return flushed(out);
}

Json plan_show_json(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host) {
  Estimate total = estimate(plan, workloads, host);
  Json json = Json::object();
  json.set("plan", plan.name);
  json.set("file", plan.file);
  json.set("root", plan.root);
  json.set("sha256", plan.sha256);
  Json fleets = Json::array();
  for (const auto& [name, fleet] : plan.fleets) fleets.push(fleet_json(name, fleet, host));
  json.set("fleets", std::move(fleets));
  json.set("order", plan.schedule.order);
  json.set("seed", plan.schedule.seed);
  json.set("warmup_rounds", plan.schedule.warmup_rounds);
  json.set("runs", plan.schedule.runs);
  Json suites = Json::array();
  for (const Suite& suite : plan.suites) suites.push(suite_json(suite));
  json.set("suites", std::move(suites));
  json.set("points", points_json(plan, workloads, host));
  json.set("machines", total.machines);
  json.set("trials", total.trials);
  json.set("expected_seconds", total.seconds);
  json.set("cost", 0);
  json.set("functional", functional(plan));
  json.set("trust_needs", trust_needs(plan));
  json.set("warnings", plan.warnings);
  json.set("resolved", resolved_toml(plan));
  return json;
}

}  // namespace benchctl
