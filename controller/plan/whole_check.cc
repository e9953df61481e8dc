#include "controller/plan/estimate.h"
#include "controller/plan/points.h"
#include "controller/plan/sections.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kPointsOfSuite = 256;
// The whole job of a machine is one JSON document of at most 16 MiB, of about 1 KiB a trial; numbers of trials are
// given out by 10,000 a machine.
constexpr int64_t kTrialsOfMachine = 9'000;
constexpr int kRunsForVerdict = 6;  // a paired interval needs as many
constexpr double kTtlFactor = 1.5;

// Where [section] key stands, or the section, or the top.
toml::Place find_place(const toml::Node& root, std::string_view section, std::string_view key) {
  const toml::Node* table = root.find(section);
  const toml::Node* value = table == nullptr ? nullptr : table->find(key);
  return value != nullptr ? value->place : table != nullptr ? table->place : root.place;
}

toml::Place suite_place(const toml::Node& root, size_t index) {
  const toml::Node* suites = root.find("suite");
  return suites != nullptr && index < suites->items.size() ? suites->items[index].place : root.place;
}

void refuse_trials(const toml::Node& root, PlanContext& context, int64_t trials) {
  context.findings.error(find_place(root, "schedule", "runs"), "the plan makes " + std::to_string(trials) +
                                                                   " trials on one machine; the limit is " +
                                                                   std::to_string(kTrialsOfMachine));
}

// Counted before any point is made, so that a hostile plan costs nothing.
bool size_fits(const toml::Node& root, PlanContext& context, const Plan& plan) {
  const int64_t rounds = plan.schedule.warmup_rounds + plan.schedule.runs;
  bool fits = true;
  for (const auto& [name, fleet] : plan.fleets) {
    int64_t trials = 0;  // without the copies of baselines
    for (size_t i = 0; i < plan.suites.size() && fits; ++i) {
      int64_t points = count_points(plan.suites[i], cpus_of(fleet, context.source.host));
      trials += points * rounds * static_cast<int64_t>(plan.suites[i].arms.size());
      if (points <= kPointsOfSuite) continue;
      context.findings.error(suite_place(root, i), "suite " + quoted(plan.suites[i].name) + " has more than " +
                                                       std::to_string(kPointsOfSuite) +
                                                       " combinations of its parameters; list fewer values");
      fits = false;
    }
    if (fits && trials > kTrialsOfMachine) {
      refuse_trials(root, context, trials);
      fits = false;
    }
    if (!fits) break;
  }
  return fits;
}

std::string as_duration(double seconds) {
  auto minutes = static_cast<int64_t>(seconds / 60) + 1;
  return minutes < 120 ? std::to_string(minutes) + "m" : std::to_string((minutes + 59) / 60) + "h";
}

void check_time(const toml::Node& root, PlanContext& context, const Plan& plan, const Estimate& total) {
  const double ttl = static_cast<double>(plan.limits.ttl_ms) / 1000;
  if (ttl < kTtlFactor * total.seconds)
    context.findings.error(find_place(root, "limits", "ttl"),
                           "ttl in [limits] is " + format_seconds(ttl) + ", less than 1.5 times the expected " +
                               format_seconds(total.seconds) + "; set ttl = \"" +
                               as_duration(kTtlFactor * total.seconds) + "\" or more, or ask for fewer runs");
  const double timeout = static_cast<double>(plan.limits.trial_timeout_ms) / 1000;
  if (timeout < kTtlFactor * total.longest_trial_seconds)
    context.findings.warn(find_place(root, "limits", "trial_timeout"),
                          "trial_timeout in [limits] is " + format_seconds(timeout) +
                              ", and the longest trial takes about " + format_seconds(total.longest_trial_seconds));
}

}  // namespace

void check_whole(const toml::Node& root, PlanContext& context, Plan& plan) {
  if (!size_fits(root, context, plan)) return;
  Estimate total = estimate(plan, context.workloads, context.source.host);
  if (total.most_trials > kTrialsOfMachine) return refuse_trials(root, context, total.most_trials);
  check_time(root, context, plan, total);
  if (plan.schedule.runs < kRunsForVerdict)
    context.findings.warn(find_place(root, "schedule", "runs"), std::to_string(plan.schedule.runs) +
                                                                    " scored rounds give no verdict: that needs " +
                                                                    std::to_string(kRunsForVerdict) + " or more");
}

}  // namespace benchctl
