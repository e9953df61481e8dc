#include <algorithm>
#include <set>

#include "controller/plan/declarations.h"
#include "controller/plan/sections.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;

constexpr size_t kSuites = 64;
constexpr size_t kArms = 64;
constexpr size_t kArgs = 256;
// Instead of a list: all arms that have the mode.
constexpr std::string_view kAllArms = "all";

// Of the user's own program: the contract's CSVs, wall (whatever it prints; its run time counts), and what is read by
// importers that are not built yet.
const std::vector<std::string>& built_formats() {
  static const std::vector<std::string> kFormats{"sequential", "concurrent", "generic", "benchctl-csv", "wall"};
  return kFormats;
}

const std::vector<std::string>& import_formats() {
  static const std::vector<std::string> kFormats{"google-benchmark", "hyperfine", "pytest-benchmark", "go-bench"};
  return kFormats;
}

template <typename T>
std::vector<std::string> names_of(const std::vector<T>& all) {
  std::vector<std::string> names;
  for (const T& one : all) names.push_back(one.name);
  return names;
}

bool offers(const ArmDecl& arm, const std::string& mode) {
  return arm.only_modes.empty() ||
         std::find(arm.only_modes.begin(), arm.only_modes.end(), mode) != arm.only_modes.end();
}

// One [[suite]] of a declared workload.
class WorkloadSuite {
 public:
  WorkloadSuite(TableReader& table, PlanContext& context, Suite& suite)
      : table_(table), context_(context), suite_(suite) {}

  void read() {
    std::string name;
    table_.text("workload", name);
    if (table_.has("format")) table_.wrong("format", "belongs to a command; a workload declares its own");
    const toml::Node* params = table_.table("params");
    const Workload* workload = find_workload(name);
    const ModeDecl* mode = workload != nullptr ? find_mode(*workload) : nullptr;
    read_arms(workload, mode);
    if (mode != nullptr) {
      suite_.format = mode->format;
      read_params(params, *mode, context_, suite_);
    }
  }

 private:
  const Workload* find_workload(const std::string& name) {
    if (name.empty()) return nullptr;
    suite_.workload = name;
    if (const Workload* found = find_named(context_.workloads, name)) return found;
    std::vector<std::string> names = names_of(context_.workloads);
    context_.findings.error(table_.place("workload"),
                            "unknown workload " + quoted(name) + meant(name, names) + "; known: " + listed(names));
    return nullptr;
  }

  const ModeDecl* find_mode(const Workload& workload) {
    std::vector<std::string> names = names_of(workload.modes);
    table_.choice("mode", suite_.mode, names);
    if (!table_.has("mode")) {
      if (names.size() != 1) {
        table_.missing("mode", "one of " + listed(names));
        return nullptr;
      }
      suite_.mode = names[0];
    }
    return find_named(workload.modes, suite_.mode);
  }

  void read_arms(const Workload* workload, const ModeDecl* mode) {
    const toml::Node* arms = table_.get("arms");
    const bool all = arms == nullptr || (arms->kind == Kind::kString && arms->text == kAllArms);
    if (!all) table_.texts("arms", suite_.arms, kArms);
    table_.text("baseline", suite_.baseline);
    table_.text("isa", suite_.isa, 64);
    std::string build = "prebuilt";
    table_.choice("build", build, {"prebuilt", "on-machine"});
    suite_.on_machine = build == "on-machine";
    suite_.skip_unbuilt = all;
    table_.boolean("skip_unbuilt", suite_.skip_unbuilt);
    table_.get("mode");
    if (workload == nullptr) return;
    if (!suite_.isa.empty()) check_isa(*workload);
    if (!all && arms->kind == Kind::kString) check_arm(*workload, *arms);
    if (arms != nullptr && arms->kind == Kind::kArray) {
      for (const toml::Node& item : arms->items)
        if (item.kind == Kind::kString) check_arm(*workload, item);
    }
    if (all && mode != nullptr)
      for (const ArmDecl& arm : workload->arms)
        if (offers(arm, mode->name)) suite_.arms.push_back(arm.name);
    choose_baseline(workload->baseline);
    if (suite_.on_machine) check_recipes(*workload);
  }

  // Of every arm all recipes, so that no machine is made for what cannot be built there.
  void check_recipes(const Workload& workload) {
    std::vector<std::string> fixed;
    for (const std::string& name : suite_.arms) {
      const ArmDecl* arm = find_named(workload.arms, name);
      if (arm == nullptr) continue;
      for (const std::string& recipe : arm->all_builds()) {
        const BuildDecl* build = find_named(workload.builds, recipe);
        const bool there = build != nullptr && !build->on_machine.empty();
        if (!there && std::find(fixed.begin(), fixed.end(), name) == fixed.end()) fixed.push_back(name);
      }
    }
    if (!fixed.empty())
      table_.wrong("build", "is \"on-machine\", and of workload " + quoted(workload.name) + " " + listed(fixed) +
                                " cannot be built there (their recipes have no on_machine)");
  }

  void check_arm(const Workload& workload, const toml::Node& item) {
    const ArmDecl* arm = find_named(workload.arms, item.text);
    std::vector<std::string> names = names_of(workload.arms);
    if (arm == nullptr) {
      context_.findings.error(item.place, "workload " + quoted(workload.name) + " has no arm " + quoted(item.text) +
                                              meant(item.text, names) + "; it has " + listed(names));
    } else if (!suite_.mode.empty() && !offers(*arm, suite_.mode)) {
      context_.findings.error(item.place, "arm " + quoted(item.text) + " has no mode " + quoted(suite_.mode) +
                                              "; it has " + listed(arm->only_modes));
    }
  }

  // One that no recipe knows would be a wish that nobody fulfils.
  void check_isa(const Workload& workload) {
    std::vector<std::string> known;
    for (const BuildDecl& build : workload.builds)
      for (const BuildTarget& target : suite_.on_machine ? build.on_machine : build.targets)
        if (std::find(known.begin(), known.end(), target.isa) == known.end()) known.push_back(target.isa);
    if (std::find(known.begin(), known.end(), suite_.isa) == known.end())
      table_.wrong("isa", "must be one that workload " + quoted(workload.name) + " can be built for, " + listed(known) +
                              ", not " + quoted(suite_.isa) + meant(suite_.isa, known));
  }

  void choose_baseline(const std::string& preferred) {
    const auto& arms = suite_.arms;
    auto is_arm = [&](const std::string& name) { return std::find(arms.begin(), arms.end(), name) != arms.end(); };
    if (suite_.baseline.empty() && !arms.empty()) suite_.baseline = is_arm(preferred) ? preferred : arms[0];
    if (!suite_.baseline.empty() && !arms.empty() && !is_arm(suite_.baseline))
      table_.wrong("baseline", "must be one of its arms, " + listed(arms) + ", not " + quoted(suite_.baseline) +
                                   meant(suite_.baseline, arms));
  }

  TableReader& table_;
  PlanContext& context_;
  Suite& suite_;
};

void read_command_format(TableReader& table, PlanContext& context, Suite& suite) {
  std::vector<std::string> known = built_formats();
  known.insert(known.end(), import_formats().begin(), import_formats().end());
  table.choice("format", suite.format, known);
  if (!table.has("format")) table.missing("format", "what the program prints: " + listed(built_formats()));
  if (suite.format == "benchctl-csv") suite.format = "generic";
  if (std::count(import_formats().begin(), import_formats().end(), suite.format) > 0)
    context.findings.error(
        table.place("format"),
        "format " + quoted(suite.format) + " is not available in this version; available: " + listed(built_formats()));
}

void read_command_suite(TableReader& table, PlanContext& context, Suite& suite) {
  if (table.has("workload")) table.wrong("workload", "and command exclude each other in one [[suite]]");
  if (table.has("mode")) table.wrong("mode", "belongs to a workload, not to a command");
  table.words("command", suite.command, kArgs);
  read_command_format(table, context, suite);
  std::vector<std::string> builds;
  table.texts("arms", builds, kArms);
  table.text("baseline", suite.baseline);
  if (table.has("arms"))
    table.wrong("arms", "of a command are builds, which are not available in this version; leave arms out");
  if (table.has("baseline") && !table.has("arms")) table.wrong("baseline", "needs arms");
  for (const char* key : {"isa", "build", "skip_unbuilt"})
    if (table.has(key)) table.wrong(key, "belongs to a workload, not to a command");
  read_free_params(table.table("params"), context, suite);
  if (suite.command.empty()) return;
  const std::string program = without_dot(suite.command[0]);
  if (auto found = context.source.root.empty() ? Status{} : check_beneath(context.source.root, program); !found)
    table.wrong("command", found.error().message);
  std::string arm = program.substr(program.rfind('/') + 1);
  for (char& c : arm)
    if (!valid_name(std::string_view(&c, 1))) c = '_';
  suite.arms = {arm.substr(0, 64)};
  suite.baseline = suite.arms[0];
}

void read_suite(const toml::Node& node, PlanContext& context, std::set<std::string>& names, Plan& plan) {
  TableReader table(node, "[[suite]]", context.findings);
  Suite suite;
  table.text("name", suite.name, 64);
  if (!suite.name.empty() && !valid_name(suite.name))
    table.wrong("name", "must be letters, digits, . _ and - only, not " + quoted(suite.name));
  if (table.has("command")) {
    read_command_suite(table, context, suite);
  } else if (table.has("workload")) {
    WorkloadSuite(table, context, suite).read();
  } else {
    for (const char* key : {"mode", "arms", "baseline", "isa", "build", "skip_unbuilt", "format", "params"})
      table.get(key);
    table.missing("workload", "the name of a workload, or command for a program of your own");
  }
  table.refuse_unknown();
  if (suite.name.empty() && !suite.command.empty()) suite.name = suite.arms[0];
  if (suite.name.empty() && !suite.workload.empty() && !suite.mode.empty())
    suite.name = suite.workload + "." + suite.mode;
  if (!suite.name.empty() && !names.insert(suite.name).second)
    context.findings.error(table.place("name"), "a second suite of the name " + quoted(suite.name) +
                                                    "; give each a name of its own (name = \"…\")");
  plan.suites.push_back(std::move(suite));
}

}  // namespace

bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

void read_suites(TableReader& top, PlanContext& context, Plan& plan) {
  const toml::Node* suites = top.get("suite");
  if (suites == nullptr) return top.missing("suite", "at least one [[suite]] with a workload or a command");
  if (suites->kind != Kind::kArray)
    return top.wrong("suite", "must be a list of tables: write [[suite]], with two brackets");
  if (suites->items.empty() || suites->items.size() > kSuites)
    return top.wrong("suite", "must have 1 to " + std::to_string(kSuites) + " entries");
  std::set<std::string> names;
  for (const toml::Node& item : suites->items) {
    if (item.kind == Kind::kTable) {
      read_suite(item, context, names, plan);
    } else {
      context.findings.error(item.place, std::string("[[suite]] must be a table, not ") + toml::kind_name(item.kind));
    }
  }
}

}  // namespace benchctl
