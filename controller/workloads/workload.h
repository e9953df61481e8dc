// A workload as declared in workloads/<name>/workload.toml: what a plan may say about it, and how to build and call it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/workloads/target.h"
#include "lib/result.h"

namespace benchctl {

struct ParamDecl {
  enum class Type { kInteger, kDuration, kText, kBoolean } type = Type::kInteger;
  std::string name;
  std::string default_value;          // of a list: its values, apart by commas
  std::optional<int64_t> min, max;    // integers; durations in ms
  std::vector<std::string> choices;   // texts
  std::optional<int64_t> warn_below;  // with a reason
  std::string warn_reason;
  bool list = false;        // the plan may give a list: each value is a point (workers = [1, 2, 4])
  bool allow_auto = false;  // "auto": from the machine's CPU count
  // For plan show: does a trial's time grow with the value (durations add up, counts multiply), and how many times the
  // mode's expected_seconds a trial of each choice takes (as many as there are choices, or none).
  bool grows = false;
  std::vector<double> factors;
  std::string help;
};

struct ModeDecl {
  std::string name;    // sequential
  std::string format;  // sequential | concurrent | generic
  std::string help;
  std::vector<ParamDecl> params;
  std::vector<std::string> argv;          // after the runner's own; "{items}" is replaced by the parameter
  double expected_seconds = 1;            // of one trial at the defaults, for plan show
  std::vector<std::string> limits;        // what a reader of its results must know, one sentence each
  std::vector<std::string> side_by_side;  // last parts of cases that are two ways to do one thing: one table shows both
};

struct ArmDecl {
  std::string name;  // c_sqlite
  std::string help;
  std::vector<std::string> argv;  // of the runner, relative to its bundle: ["bin/c_sqlite"]
  std::string build;              // name of the build recipe that makes its bundle
  std::vector<std::string> only_modes;
  std::vector<std::string> other_builds;  // for machines that the first recipe's bundle does not suit, in this order
  std::vector<std::string> limits;        // known ones, of the language or its driver: shown beside the results

  std::vector<std::string> all_builds() const;
};

// A build recipe: commands run one after another in the workload's folder; what they put into the folder BENCHCTL_OUT
// is the bundle. Their environment: workloads/toolchains/README.md.
struct BuildDecl {
  std::string name;
  std::vector<std::string> sources;             // globs relative to the workload's folder that the hash covers
  std::vector<std::vector<std::string>> steps;  // argv lists
  std::vector<std::string> needs;               // toolchains: names under workloads/toolchains/
  std::vector<BuildTarget> targets;             // what it can be built for; of an architecture the first is the default
  std::string min_glibc;                        // of the machine it runs on: "2.36", or "none"
  std::vector<std::string> cpu_flags;           // of that machine, beyond what the ISA implies
  // What it can be built for on the machine itself, the lowest first; empty: on this computer only.
  std::vector<BuildTarget> on_machine;

  // Of those the ISAs of an architecture; empty: not on machines of it.
  std::vector<std::string> isas_on_machine(const std::string& arch) const;
  // For that architecture: the wanted ISA where the recipe can be built for it, else the default. nullopt: not for this
  // architecture.
  std::optional<BuildTarget> target(std::string_view arch, std::string_view wanted_isa = "") const;
};

struct Workload {
  std::string name;
  std::string version;
  std::string help;
  std::string folder;  // absolute
  std::string baseline;
  // What a runner is given after its own argv to print the statements of one request, and JSON about itself; empty when
  // the workload has no such command. Every arm obeys the same.
  std::vector<std::string> trace;
  std::vector<std::string> info;
  std::vector<ModeDecl> modes;
  std::vector<ArmDecl> arms;
  std::vector<BuildDecl> builds;

  const ModeDecl* mode(std::string_view wanted) const;
  const ArmDecl* arm(std::string_view wanted) const;
  const BuildDecl* build(std::string_view wanted) const;
};

// kUsage, with the nearest name or all of them, when the workload has no such arm.
Result<const ArmDecl*> find_arm(const Workload& workload, const std::string& name);

// Reads <folder>/workload.toml; all mistakes at once, one a line, as file:line:column (kUsage).
Result<Workload> load_workload(const std::string& folder);
// The same from a text that stands for that file.
Result<Workload> parse_workload(std::string_view text, const std::string& file, const std::string& folder);
// Every folder below `root` that has a workload.toml, sorted by name. The mistakes of all of them are told at once.
Result<std::vector<Workload>> load_workloads(const std::string& root);

}  // namespace benchctl
