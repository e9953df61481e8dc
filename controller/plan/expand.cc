#include "controller/plan/expand.h"

#include <algorithm>

#include "controller/plan/declarations.h"
#include "controller/plan/order.h"
#include "controller/workloads/template.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct ArmSlot {
  std::string arm;
  bool aa_copy = false;
};

// What fill_template would leave standing in a workload's own command: a name in braces.
bool has_placeholder(const std::string& word) {
  size_t open = word.find('{');
  size_t close = open == std::string::npos ? open : word.find('}', open);
  if (close == std::string::npos || close == open + 1) return false;
  return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                     word.begin() + static_cast<std::ptrdiff_t>(close),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

class Expander {
 public:
  Expander(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& machine)
      : plan_(plan), workloads_(workloads), machine_(machine), next_trial_(machine.first_trial) {}

  Result<Expansion> run() {
    expansion_.points = points_of(plan_, workloads_, machine_.cpus);
    for (int round = 1 - plan_.schedule.warmup_rounds; round <= plan_.schedule.runs; ++round) {
      RoundSpec spec;
      spec.round = round;
      for (size_t point : point_order(key(), round, expansion_.points.size())) BENCHCTL_CHECK(add_point(point, spec));
      expansion_.rounds.push_back(std::move(spec));
    }
    return std::move(expansion_);
  }

 private:
  OrderKey key() const { return {plan_.schedule.order, plan_.schedule.seed, machine_.index}; }

  Status add_point(size_t index, RoundSpec& round) {
    const Point& point = expansion_.points[index];
    const Suite& suite = plan_.suites[point.suite];
    std::vector<ArmSlot> slots;
    for (const std::string& arm : suite.arms) slots.push_back({arm, false});
    if (point.aa) slots.push_back({suite.baseline, true});
    int position = 0;
    for (size_t slot : arm_order(key(), round.round, index, slots.size())) {
      TrialSpec trial;
      trial.trial = next_trial_++;
      trial.suite = suite.name;
      trial.point = point.label;
      trial.arm = slots[slot].arm;
      trial.aa_copy = slots[slot].aa_copy;
      trial.round = round.round;
      trial.position = position++;
      trial.format = suite.format;
      trial.definition_hash = point.definition_hash;
      trial.params = point.params;
      trial.timeout_ms = plan_.limits.trial_timeout_ms;
      BENCHCTL_CHECK(suite.command.empty() ? add_workload(suite, trial) : add_command(suite, trial));
      round.trials.push_back(std::move(trial));
    }
    return {};
  }

  Status add_workload(const Suite& suite, TrialSpec& trial) {
    auto fail = [&](const std::string& what) { return Error{ErrorKind::kUsage, "suite " + suite.name + ": " + what}; };
    const Workload* workload = find_named(workloads_, suite.workload);
    if (workload == nullptr) return fail("unknown workload " + suite.workload);
    const ModeDecl* mode = find_named(workload->modes, suite.mode);
    const ArmDecl* arm = find_named(workload->arms, trial.arm);
    if (mode == nullptr) return fail("workload " + suite.workload + " has no mode " + suite.mode);
    if (arm == nullptr) return fail("workload " + suite.workload + " has no arm " + trial.arm);
    Phase phase{"run", arm->argv};
    for (const std::string& word : mode->argv) {
      phase.argv.push_back(fill_template(word, trial.params));
      if (phase.argv.back() == word && has_placeholder(word))
        return fail("no parameter for " + word + " in mode " + mode->name);
    }
    trial.phases.push_back(std::move(phase));
    auto key = bundle_key(*workload, arm->build, suite, machine_.arch);
    if (!key) return fail(workload->name + "/" + arm->build + " cannot be built for " + machine_.arch);
    trial.bundle = need({*key, suite.workload, arm->build, ""});
    return {};
  }

  Status add_command(const Suite& suite, TrialSpec& trial) {
    const std::string& given = suite.command[0];
    const std::string program = given.starts_with("./") ? given.substr(2) : given;
    Phase phase{"run", {program.substr(program.rfind('/') + 1)}};
    for (size_t i = 1; i < suite.command.size(); ++i)
      phase.argv.push_back(fill_template(suite.command[i], trial.params));
    trial.phases.push_back(std::move(phase));
    trial.bundle = need({"command/" + suite.name, "", "", program});
    return {};
  }

  std::string need(BundleNeed bundle) {
    std::string key = bundle.key;
    bool known = std::any_of(expansion_.bundles.begin(), expansion_.bundles.end(),
                             [&](const BundleNeed& one) { return one.key == key; });
    if (!known) expansion_.bundles.push_back(std::move(bundle));
    return key;
  }

  const Plan& plan_;
  const std::vector<Workload>& workloads_;
  const MachineShape& machine_;
  int64_t next_trial_;
  Expansion expansion_;
};

}  // namespace

Result<Expansion> expand(const Plan& plan, const std::vector<Workload>& workloads, const MachineShape& machine) {
  return Expander(plan, workloads, machine).run();
}

std::optional<std::string> bundle_key(const Workload& workload, const std::string& build, const Suite& suite,
                                      const std::string& arch) {
  const std::string name = workload.name + "/" + build;
  const BuildDecl* recipe = find_named(workload.builds, build);
  if (recipe == nullptr) return name;  // whoever gave the workload knows its bundle
  if (suite.on_machine) {
    if (recipe->isas_on_machine(arch).empty()) return std::nullopt;
    return name + " " + arch + (suite.isa.empty() ? "" : " " + suite.isa) + " on machine";
  }
  auto target = recipe->target(arch, suite.isa);
  if (!target) return std::nullopt;
  return name + " " + target->isa;
}

Status set_bundles(Expansion& expansion, const std::map<std::string, std::string>& sha256_of_key) {
  for (RoundSpec& round : expansion.rounds)
    for (TrialSpec& trial : round.trials) {
      auto found = sha256_of_key.find(trial.bundle);
      if (found == sha256_of_key.end())
        return Error{ErrorKind::kInternal, "no bundle for " + trial.bundle + " (arm " + trial.arm + ")"};
      trial.bundle = found->second;
    }
  return {};
}

}  // namespace benchctl
