#include "controller/plan/estimate.h"

#include <algorithm>

#include "controller/plan/cpu_list.h"
#include "controller/plan/declarations.h"
#include "controller/plan/points.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Beside the program's own time: scratch folder, sync, process start, taking over its files.
constexpr double kTrialOverheadSeconds = 0.2;
// A machine's boot, equipment and removal; measured on two cores.
constexpr double kNspawnSeconds = 20;
constexpr double kLocalSeconds = 2;

}  // namespace

double trial_seconds(const ModeDecl& mode, const std::map<std::string, std::string>& params) {
  // Counts multiply; times (window, warm-up) are spent as they are asked for.
  double factor = 1, asked_ms = 0, default_ms = 0;
  for (const ParamDecl& decl : mode.params) {
    auto given = params.find(decl.name);
    if (given == params.end()) continue;
    for (size_t i = 0; i < decl.factors.size(); i++)
      if (decl.choices[i] == given->second) factor *= decl.factors[i];
    if (!decl.grows) continue;
    if (decl.type == ParamDecl::Type::kDuration) {
      asked_ms += static_cast<double>(parse_duration_ms(given->second).value_or(0));
      default_ms += static_cast<double>(parse_duration_ms(decl.default_value).value_or(0));
    } else {
      auto asked = parse_int(given->second), usual = parse_int(decl.default_value);
      if (asked && usual && *asked > 0 && *usual > 0)
        factor *= static_cast<double>(*asked) / static_cast<double>(*usual);
    }
  }
  double times = default_ms > 0 ? asked_ms / default_ms : 1;
  return mode.expected_seconds * factor * times;
}

int cpus_of(const Fleet& fleet, const MachineShape& host) {
  auto cpus = fleet.spec.options.find("cpus");
  if (cpus == fleet.spec.options.end()) return host.cpus;
  return count_cpu_list(cpus->second).value_or(host.cpus);
}

Estimate estimate(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& host) {
  Estimate total;
  total.rounds = plan.schedule.warmup_rounds + plan.schedule.runs;
  for (const auto& [name, fleet] : plan.fleets) {
    double seconds = fleet.spec.provider == "local" ? kLocalSeconds : kNspawnSeconds;
    int64_t trials = 0;
    std::vector<Point> points = points_of(plan, workloads, cpus_of(fleet, host));
    for (const Point& point : points) {
      const Suite& suite = plan.suites[point.suite];
      const ModeDecl* mode = find_mode(workloads, suite.workload, suite.mode);
      double one = mode == nullptr ? kCommandSeconds : trial_seconds(*mode, point.params);
      int64_t count = (static_cast<int64_t>(suite.arms.size()) + (point.aa ? 1 : 0)) * total.rounds;
      trials += count;
      seconds += static_cast<double>(count) * (one + kTrialOverheadSeconds);
      total.longest_trial_seconds = std::max(total.longest_trial_seconds, one);
      total.has_command = total.has_command || !suite.command.empty();
    }
    total.machines += fleet.count;
    total.trials += trials * fleet.count;
    total.most_trials = std::max(total.most_trials, trials);
    total.points = std::max(total.points, static_cast<int64_t>(points.size()));
    total.seconds += seconds * fleet.count;  // machines of this computer take turns
  }
  return total;
}

}  // namespace benchctl
