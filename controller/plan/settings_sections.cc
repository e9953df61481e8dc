// [harden], [limits], [schedule], [noise], [report].
#include "controller/plan/sections.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;

constexpr int64_t kMinute = 60'000;
constexpr int64_t kHour = 60 * kMinute;

// true, false or "auto".
void read_aa(TableReader& table, bool& aa) {
  const toml::Node* value = table.get("aa");
  if (value == nullptr) return;
  if (value->kind == Kind::kBoolean) {
    aa = value->boolean;
  } else if (value->kind != Kind::kString || value->text != "auto") {
    table.wrong("aa", "must be \"auto\", true or false");
  }
}

}  // namespace

void read_cost(TableReader& table, std::optional<double>& out, std::string& out_currency) {
  std::string text;
  table.text("max_cost", text);
  if (text.empty()) return;
  auto parts = split(text, ' ');
  auto amount = parse_double(parts[0]);
  bool currency = parts.size() == 2 && parts[1].size() == 3;
  for (char c : parts.back()) currency = currency && c >= 'A' && c <= 'Z';
  if (!amount || *amount < 0 || *amount > 1e6 || !currency)
    return table.wrong("max_cost", "must be an amount and a currency, such as \"2.00 USD\"");
  out = *amount;
  out_currency = std::string(parts[1]);
}

void read_harden(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* node = top.table("harden");
  if (node == nullptr) return;
  TableReader table(*node, "[harden]", context.findings);
  table.choice("profile", plan.harden_profile, {"none", "quiet"});
  table.boolean("persistent_ok", plan.persistent_ok);
  table.refuse_unknown();
  if (plan.harden_profile == "none") return;
  for (const auto& [name, fleet] : plan.fleets)
    if ((fleet.spec.provider == "local" || fleet.spec.provider == "ssh") && !plan.persistent_ok)
      table.wrong("profile", "changes a machine that is kept ([fleet." + name + "] is " + fleet.spec.provider +
                                 "): it needs persistent_ok = true");
}

void read_limits(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* node = top.table("limits");
  if (node == nullptr) return;
  TableReader table(*node, "[limits]", context.findings);
  table.duration("ttl", plan.limits.ttl_ms, kMinute, 7 * 24 * kHour);
  read_cost(table, plan.limits.max_cost, plan.limits.max_cost_currency);
  table.integer("max_parallel", plan.limits.max_parallel, 1, 1000);
  table.duration("trial_timeout", plan.limits.trial_timeout_ms, 1000, 24 * kHour);
  table.refuse_unknown();
}

void read_schedule(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* node = top.table("schedule");
  if (node == nullptr) return;
  Schedule& schedule = plan.schedule;
  TableReader table(*node, "[schedule]", context.findings);
  table.choice("order", schedule.order, {"latin", "abba", "fixed"});
  table.integer("seed", schedule.seed, 0, INT64_MAX);
  table.integer("warmup_rounds", schedule.warmup_rounds, 0, 100);
  table.integer("runs", schedule.runs, 1, 10'000);
  table.integer("max_runs", schedule.max_runs, 1, 10'000);
  double target = -1;
  table.percent("target_ci", target);
  if (target >= 0) schedule.target_ci = target;
  read_aa(table, schedule.aa);
  table.refuse_unknown();
  if (table.has("max_runs") && schedule.max_runs < schedule.runs) table.wrong("max_runs", "must not be below runs");
  for (const char* key : {"target_ci", "max_runs"})
    if (table.has(key))
      context.findings.warn(table.place(key), std::string(key) +
                                                  " is not acted upon in this version: the run ends after " +
                                                  std::to_string(schedule.runs) + " rounds");
}

void read_noise(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* node = top.table("noise");
  if (node == nullptr) return;
  TableReader table(*node, "[noise]", context.findings);
  table.percent("max_steal", plan.noise.max_steal);
  table.percent("repeat_steal", plan.noise.repeat_steal);
  table.percent("max_repeats", plan.noise.max_repeats);
  table.refuse_unknown();
  if (plan.noise.repeat_steal < plan.noise.max_steal) table.wrong("repeat_steal", "must not be below max_steal");
}

void read_builds(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* builds = top.table("build");
  if (builds == nullptr) return;
  if (builds->members.size() > 64) return top.wrong("build", "must have at most 64 builds");
  for (const auto& [key, node] : builds->members) {
    const std::string name = "[build." + sanitize(key, 64) + "]";
    if (node.kind != Kind::kTable) {
      context.findings.error(node.place, name + " must be a table, not " + toml::kind_name(node.kind));
      continue;
    }
    if (!valid_name(key))
      context.findings.error(node.place, name + " must be named with letters, digits, . _ and - only");
    TableReader table(node, name, context.findings);
    Build build;
    table.text("git", build.git);
    table.words("run", build.run, 64);
    table.texts("files", build.files, 64);
    table.refuse_unknown();
    for (const std::string& file : build.files)
      if (!safe_relative_path(without_dot(file)))
        table.wrong("files", "names " + quoted(file) + ", which is not below the plan's root");
    context.findings.error(
        node.place, name +
                        ": builds of your own program are not available in this version; build it yourself and name "
                        "the file in command of a [[suite]]");
    plan.builds.emplace(key, std::move(build));
  }
}

void read_report(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* node = top.table("report");
  if (node == nullptr) return;
  TableReader table(*node, "[report]", context.findings);
  table.boolean("redact", plan.redact);
  table.texts("claims", plan.claims, 64);
  table.refuse_unknown();
  for (const std::string& file : plan.claims)
    if (auto found = context.source.root.empty() ? Status{} : check_beneath(context.source.root, file); !found)
      table.wrong("claims", found.error().message);
}

}  // namespace benchctl
