#include <algorithm>
#include <set>

#include "controller/toml/table_reader.h"
#include "controller/workloads/workload.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;
using Type = ParamDecl::Type;

constexpr int64_t kFileBytes = 1 << 20;
constexpr size_t kArgvWords = 64;
constexpr size_t kEntries = 64;
constexpr size_t kLimits = 16;
constexpr size_t kLimitBytes = 400;
constexpr int kMostTimes = 10'000;

// Lower-case names that are safe in paths, CSV cells and TOML keys.
bool valid_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

template <typename T>
std::vector<std::string> names_of(const std::vector<T>& all) {
  std::vector<std::string> names;
  for (const T& one : all) names.push_back(one.name);
  return names;
}

class WorkloadReader {
 public:
  WorkloadReader(const std::string& file, std::string folder) : findings_(file, {}) {
    workload_.folder = std::move(folder);
  }

  Result<Workload> read(const toml::Node& document) {
    TableReader top(document, "workload.toml", findings_);
    read_head(top);
    each(top, "mode", [&](const std::string& name, const toml::Node& node) { read_mode(name, node); });
    each(top, "arm", [&](const std::string& name, const toml::Node& node) { read_arm(name, node); });
    each(top, "build", [&](const std::string& name, const toml::Node& node) { read_build(name, node); });
    top.refuse_unknown();
    check_references(document);
    check_trace(top);
    if (!findings_.ok()) return findings_.as_error();
    return std::move(workload_);
  }

 private:
  void read_head(TableReader& top) {
    int schema = 0;
    top.integer("schema", schema, 1, 1);
    if (!top.has("schema")) top.missing("schema", "1");
    top.text("name", workload_.name);
    top.text("version", workload_.version, 32);
    top.text("help", workload_.help, 400);
    top.text("baseline", workload_.baseline);
    if (top.has("trace")) top.words("trace", workload_.trace, kArgvWords);
    if (top.has("info")) top.words("info", workload_.info, kArgvWords);
    if (!top.has("name")) top.missing("name", "the name of the workload's folder");
    if (!top.has("version")) top.missing("version", "of what is measured, such as \"1\"");
    if (!top.has("baseline")) top.missing("baseline", "the arm that every ratio is relative to");
    std::string folder_name = workload_.folder.substr(workload_.folder.rfind('/') + 1);
    if (!workload_.name.empty() && workload_.name != folder_name)
      top.wrong("name", "must be the name of its folder, " + quoted(folder_name) + ", not " + quoted(workload_.name));
  }

  // Sentences for readers of results.
  static void read_limits(TableReader& table, std::vector<std::string>& limits) {
    if (!table.has("limits")) return;
    table.texts("limits", limits, kLimits);
    for (const std::string& limit : limits)
      if (limit.size() > kLimitBytes)
        table.wrong("limits", "must be sentences of at most " + std::to_string(kLimitBytes) + " bytes each");
  }

  // The tables below `key`, each with its name.
  template <typename Read>
  void each(TableReader& top, const char* key, Read read) {
    const toml::Node* table = top.table(key);
    if (table == nullptr || table->members.empty())
      return top.missing(key, std::string("at least one [") + key + ".NAME]");
    if (table->members.size() > kEntries) return top.wrong(key, "must have at most 64 entries");
    for (const auto& [name, node] : table->members) {
      if (!valid_name(name))
        findings_.error(node.key_place,
                        std::string(key) + " " + quoted(name) + " must be named with a-z, 0-9, _ and - only");
      else if (node.kind != Kind::kTable)
        findings_.error(node.place, std::string(key) + "." + name + " must be a table");
      else
        read(name, node);
    }
  }

  void read_mode(const std::string& name, const toml::Node& node) {
    TableReader table(node, "[mode." + name + "]", findings_);
    ModeDecl mode;
    mode.name = name;
    table.text("help", mode.help, 400);
    table.choice("format", mode.format, {"sequential", "concurrent", "generic"});
    if (!table.has("format")) table.missing("format", "what the runner prints: sequential, concurrent or generic");
    if (table.has("argv")) table.words("argv", mode.argv, kArgvWords);
    if (const toml::Node* seconds = table.get("expected_seconds")) {
      if ((seconds->kind != Kind::kFloat && seconds->kind != Kind::kInteger) || !(seconds->number > 0) ||
          seconds->number > 86'400)
        table.wrong("expected_seconds", "must be a number of seconds above 0, at most a day");
      else
        mode.expected_seconds = seconds->number;
    }
    read_limits(table, mode.limits);
    if (table.has("side_by_side")) table.texts("side_by_side", mode.side_by_side, kEntries);
    if (const toml::Node* params = table.table("params"))
      for (const auto& [param, declared] : params->members) {
        if (!valid_name(param) || declared.kind != Kind::kTable)
          findings_.error(declared.key_place, "params." + quoted(param) + " in " + table.name() +
                                                  " must be a table named with a-z, 0-9, _ and - only");
        else
          read_param(param, "[mode." + name + ".params." + param + "]", declared, mode);
      }
    table.refuse_unknown();
    check_placeholders(table, mode);
    workload_.modes.push_back(std::move(mode));
  }

  void read_param(const std::string& name, const std::string& label, const toml::Node& node, ModeDecl& mode) {
    TableReader table(node, label, findings_);
    ParamDecl param;
    param.name = name;
    std::string type;
    table.choice("type", type, {"integer", "duration", "text", "boolean"});
    if (!table.has("type")) table.missing("type", "integer, duration, text or boolean");
    param.type = type == "duration"  ? Type::kDuration
                 : type == "text"    ? Type::kText
                 : type == "boolean" ? Type::kBoolean
                                     : Type::kInteger;
    table.text("help", param.help, 400);
    table.boolean("list", param.list);
    table.boolean("auto", param.allow_auto);
    if (table.has("choices")) {
      table.texts("choices", param.choices, kEntries);
      if (param.type != Type::kText) table.wrong("choices", "is for texts only");
    }
    read_cost(table, param);
    read_bound(table, "min", param, param.min);
    read_bound(table, "max", param, param.max);
    read_bound(table, "warn_below", param, param.warn_below);
    table.text("warn_reason", param.warn_reason);
    if (param.min && param.max && *param.min > *param.max) table.wrong("min", "must not be above max");
    read_default(table, param);
    table.refuse_unknown();
    mode.params.push_back(std::move(param));
  }

  void read_cost(TableReader& table, ParamDecl& param) {
    const bool counts = param.type == Type::kInteger || param.type == Type::kDuration;
    param.grows = param.type == Type::kDuration || param.name == "items";
    table.boolean("grows", param.grows);
    if (table.has("grows") && !counts) table.wrong("grows", "is for integers and durations only");
    const toml::Node* factors = table.get("factors");
    if (factors == nullptr) return;
    for (const toml::Node& factor : factors->items) {
      const bool number = factor.kind == Kind::kFloat || factor.kind == Kind::kInteger;
      if (number && factor.number > 0 && factor.number <= kMostTimes) param.factors.push_back(factor.number);
    }
    if (factors->kind != Kind::kArray || param.choices.empty() || param.factors.size() != param.choices.size() ||
        factors->items.size() != param.choices.size())
      table.wrong("factors", "must be a list of numbers above 0, at most " + std::to_string(kMostTimes) +
                                 ", as many as there are choices");
  }

  // An integer, or milliseconds from a time with its unit.
  void read_bound(TableReader& table, const char* key, const ParamDecl& param, std::optional<int64_t>& out) {
    const toml::Node* node = table.get(key);
    if (node == nullptr) return;
    if (param.type == Type::kInteger && node->kind == Kind::kInteger) {
      out = node->integer;
    } else if (param.type == Type::kDuration && node->kind == Kind::kString && parse_duration_ms(node->text)) {
      out = parse_duration_ms(node->text);
    } else {
      table.wrong(key, param.type == Type::kDuration  ? "must be a time with its unit, such as \"5s\""
                       : param.type == Type::kInteger ? "must be an integer"
                                                      : "is for integers and durations only");
    }
  }

  void read_default(TableReader& table, ParamDecl& param) {
    const toml::Node* node = table.get("default");
    if (node == nullptr) return table.missing("default", "the value of a plan that says nothing");
    std::vector<std::string> values;
    if (node->kind == Kind::kArray && !param.list) return table.wrong("default", "must be one value: list is not true");
    if (node->kind == Kind::kArray && node->items.empty()) return table.wrong("default", "must not be empty");
    for (const toml::Node* value :
         node->kind == Kind::kArray ? items_of(*node) : std::vector<const toml::Node*>{node}) {
      std::string why = refusal(param, *value);
      if (!why.empty()) return findings_.error(value->place, "default in " + table.name() + " " + why);
      values.push_back(text_of(*value));
    }
    param.default_value = join(values, ",");
  }

  static std::vector<const toml::Node*> items_of(const toml::Node& array) {
    std::vector<const toml::Node*> items;
    for (const toml::Node& item : array.items) items.push_back(&item);
    return items;
  }

  static std::string text_of(const toml::Node& node) {
    if (node.kind == Kind::kInteger) return std::to_string(node.integer);
    if (node.kind == Kind::kBoolean) return node.boolean ? "true" : "false";
    return node.text;
  }

  // Why the value cannot be this parameter's; empty when it can.
  static std::string refusal(const ParamDecl& param, const toml::Node& value) {
    if (param.allow_auto && value.kind == Kind::kString && value.text == "auto") return "";
    std::optional<int64_t> number;
    switch (param.type) {
      case Type::kInteger:
        if (value.kind != Kind::kInteger) return std::string("must be an integer, not ") + toml::kind_name(value.kind);
        number = value.integer;
        break;
      case Type::kDuration:
        if (value.kind == Kind::kString) number = parse_duration_ms(value.text);
        if (!number) return "must be a time with its unit, such as \"5s\"";
        break;
      case Type::kBoolean:
        return value.kind == Kind::kBoolean ? "" : "must be true or false";
      case Type::kText:
        if (value.kind != Kind::kString || value.text.find(',') != std::string::npos)
          return "must be a text without a comma";
        if (!param.choices.empty() &&
            std::find(param.choices.begin(), param.choices.end(), value.text) == param.choices.end())
          return "must be one of " + listed(param.choices) + ", not " + quoted(value.text) +
                 meant(value.text, param.choices);
        return "";
    }
    if ((param.min && *number < *param.min) || (param.max && *number > *param.max)) return "is outside min and max";
    return "";
  }

  // Every {name} of argv is a parameter, or {name_s}, {name_ms} of a duration; every parameter is used.
  void check_placeholders(TableReader& table, const ModeDecl& mode) {
    std::set<std::string> used;
    std::vector<std::string> known;
    for (const ParamDecl& param : mode.params) {
      known.push_back(param.name);
      if (param.type == Type::kDuration) known.insert(known.end(), {param.name + "_s", param.name + "_ms"});
    }
    for (const std::string& word : mode.argv)
      for (size_t open = word.find('{'); open != std::string::npos; open = word.find('{', open + 1)) {
        size_t close = word.find('}', open);
        std::string name = close == std::string::npos ? "" : word.substr(open + 1, close - open - 1);
        if (std::find(known.begin(), known.end(), name) == known.end())
          table.wrong("argv",
                      "names the parameter " + quoted(name) + ", which the mode does not declare" + meant(name, known));
        used.insert(name);
      }
    for (const ParamDecl& param : mode.params)
      if (!used.count(param.name) && !used.count(param.name + "_s") && !used.count(param.name + "_ms"))
        table.wrong("argv", "does not use the parameter " + quoted(param.name) + " (\"{" + param.name + "}\")");
  }

  // One trace stands for all points of a suite: what it names must be in every mode, and have one value in a suite.
  void check_trace(TableReader& top) {
    for (const std::string& word : workload_.trace)
      for (size_t open = word.find('{'); open != std::string::npos; open = word.find('{', open + 1)) {
        const std::string name = word.substr(open + 1, word.find('}', open) - open - 1);
        for (const ModeDecl& mode : workload_.modes) {
          auto param = std::find_if(mode.params.begin(), mode.params.end(),
                                    [&](const ParamDecl& one) { return one.name == name; });
          if (param == mode.params.end())
            top.wrong("trace", "names the parameter " + quoted(name) + ", which the mode " + mode.name +
                                   " does not declare" + meant(name, names_of(mode.params)));
          else if (param->list)
            top.wrong("trace", "names the parameter " + quoted(name) + ", of which a suite may have many values");
        }
      }
  }

  void read_arm(const std::string& name, const toml::Node& node) {
    TableReader table(node, "[arm." + name + "]", findings_);
    ArmDecl arm;
    arm.name = name;
    table.text("help", arm.help, 400);
    if (table.has("build")) table.texts("build", arm.other_builds, kEntries);
    if (!arm.other_builds.empty()) {
      arm.build = arm.other_builds.front();
      arm.other_builds.erase(arm.other_builds.begin());
    }
    read_limits(table, arm.limits);
    table.words("argv", arm.argv, kArgvWords);
    if (!table.has("build")) table.missing("build", "the recipe that makes its bundle");
    if (!table.has("argv")) table.missing("argv", "the runner, relative to its bundle, such as [\"bin/" + name + "\"]");
    if (!arm.argv.empty() && !safe_relative_path(arm.argv[0]))
      table.wrong("argv", "must begin with a path relative to the bundle, without \"..\", not " + quoted(arm.argv[0]));
    if (table.has("only_modes")) table.texts("only_modes", arm.only_modes, kEntries);
    table.refuse_unknown();
    workload_.arms.push_back(std::move(arm));
  }

  void read_build(const std::string& name, const toml::Node& node) {
    TableReader table(node, "[build." + name + "]", findings_);
    BuildDecl build;
    build.name = name;
    table.texts("sources", build.sources, 256);
    if (!table.has("sources")) table.missing("sources", "patterns of the files that it is built from");
    for (const std::string& pattern : build.sources)
      if (!safe_relative_path(pattern))
        table.wrong("sources", "must lie below the workload's folder, not " + quoted(pattern));
    read_steps(table, build);
    if (table.has("needs")) table.texts("needs", build.needs, kEntries);
    for (const std::string& toolchain : build.needs)
      if (!valid_name(toolchain))
        table.wrong("needs", "must name folders of workloads/toolchains/, not " + quoted(toolchain));
    read_targets(table, build);
    read_on_machine(table, build);
    if (table.has("cpu_flags")) table.texts("cpu_flags", build.cpu_flags, kEntries);
    table.text("min_glibc", build.min_glibc, 16);
    if (!table.has("min_glibc")) table.missing("min_glibc", "such as \"2.36\", or \"none\" when linked statically");
    table.refuse_unknown();
    workload_.builds.push_back(std::move(build));
  }

  // `arch` and `isa`, each a text or a list. Where there are two architectures an ISA's name says whose it is.
  void read_targets(TableReader& table, BuildDecl& build) {
    static const std::vector<std::string> kArchs{"x86_64", "aarch64"};
    std::vector<std::string> archs, isas;
    if (table.has("arch")) table.texts("arch", archs, kArchs.size());
    if (table.has("isa")) table.texts("isa", isas, kEntries);
    if (!table.has("arch")) table.missing("arch", "x86_64, aarch64 or a list of both");
    if (!table.has("isa")) table.missing("isa", "the -march that it is built for, such as \"x86-64-v2\", or a list");
    for (const std::string& arch : archs)
      if (std::find(kArchs.begin(), kArchs.end(), arch) == kArchs.end())
        return table.wrong("arch", "must be one of " + listed(kArchs) + ", not " + quoted(arch) + meant(arch, kArchs));
    for (const std::string& isa : isas) {
      std::string arch = arch_of_isa(isa);
      if (arch.empty() && archs.size() == 1) arch = archs[0];
      if (std::find(archs.begin(), archs.end(), arch) == archs.end()) {
        if (!archs.empty()) table.wrong("isa", "has " + quoted(isa) + ", which is no ISA of " + listed(archs));
        continue;
      }
      build.targets.push_back({arch, isa});
    }
    for (const std::string& arch : archs)
      if (!isas.empty() && !build.target(arch))
        table.wrong("isa", "has none for " + arch + ": add " + (arch == "aarch64" ? "\"armv8-a\"" : "\"x86-64-v2\""));
  }

  // ISAs of the architectures above, the lowest first: a CPU takes the last one that it has.
  void read_on_machine(TableReader& table, BuildDecl& build) {
    std::vector<std::string> isas;
    if (table.has("on_machine")) table.texts("on_machine", isas, kEntries);
    for (const std::string& isa : isas) {
      const std::string arch = arch_of_isa(isa);
      if (arch.empty() || !build.target(arch))
        table.wrong("on_machine", "has " + quoted(isa) + ", which is no ISA of its arch");
      build.on_machine.push_back({arch, isa});
    }
  }

  void read_steps(TableReader& table, BuildDecl& build) {
    const toml::Node* steps = table.get("steps");
    if (steps == nullptr) return table.missing("steps", "a list of commands, each a list of words");
    bool good = steps->kind == Kind::kArray && !steps->items.empty() && steps->items.size() <= kEntries;
    for (const toml::Node& step : steps->items) {
      std::vector<std::string> argv;
      good = good && step.kind == Kind::kArray && !step.items.empty() && step.items.size() <= kArgvWords;
      for (const toml::Node& word : step.items) {
        good = good && word.kind == Kind::kString;
        argv.push_back(word.text);
      }
      build.steps.push_back(std::move(argv));
    }
    if (!good) table.wrong("steps", "must be a list of commands, each a list of words: [[\"sh\", \"build.sh\"]]");
  }

  void check_references(const toml::Node& document) {
    const std::vector<std::string> arms = names_of(workload_.arms), builds = names_of(workload_.builds),
                                   modes = names_of(workload_.modes);
    auto refer = [&](toml::Place place, const std::string& where, const char* what, const std::string& name,
                     const std::vector<std::string>& known) {
      if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
        findings_.error(
            place, where + " names the " + what + " " + quoted(name) + ", which does not exist" + meant(name, known));
    };
    TableReader top(document, "workload.toml", findings_);
    refer(top.place("baseline"), "baseline", "arm", workload_.baseline, arms);
    const toml::Node* tables = document.find("arm");
    for (const ArmDecl& arm : workload_.arms) {
      TableReader table(*tables->find(arm.name), "", findings_);
      for (const std::string& build : arm.all_builds())
        refer(table.place("build"), "build in [arm." + arm.name + "]", "build", build, builds);
      for (const std::string& mode : arm.only_modes)
        refer(table.place("only_modes"), "only_modes in [arm." + arm.name + "]", "mode", mode, modes);
    }
  }

  Findings findings_;
  Workload workload_;
};

}  // namespace

Result<Workload> parse_workload(std::string_view text, const std::string& file, const std::string& folder) {
  BENCHCTL_TRY(toml::Node document, toml::parse(text, file));
  return WorkloadReader(file, folder).read(document);
}

Result<Workload> load_workload(const std::string& folder) {
  const std::string file = folder + "/workload.toml";
  BENCHCTL_TRY(std::string text, read_file(file, kFileBytes));
  return parse_workload(text, file, folder);
}

Result<std::vector<Workload>> load_workloads(const std::string& root) {
  BENCHCTL_TRY(auto names, list_dir(root));
  std::vector<Workload> workloads;
  std::vector<std::string> mistakes;
  for (const std::string& name : names) {
    const std::string folder = root + "/" + name;
    if (!exists(folder + "/workload.toml")) continue;
    auto workload = load_workload(folder);
    if (workload)
      workloads.push_back(*std::move(workload));
    else
      mistakes.push_back(workload.error().message);
  }
  if (!mistakes.empty()) return Error{ErrorKind::kUsage, join(mistakes, "\n")};
  return workloads;
}

}  // namespace benchctl
