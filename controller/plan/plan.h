// A plan: what to run, where, how often, in which order. Values only; plan_reader.h makes it from TOML with every
// mistake named, expand.h turns it into ordered trials.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/result.h"
#include "provisioning/provider.h"

namespace benchctl {

struct Require {
  std::vector<std::string> cpu_flags;
  std::string cpu_model;  // RE2 pattern
  int64_t memory_bytes = 0;
  std::string cpu_class = "any";
  int rerolls = 3;
  bool spread = false;
  bool allow_burstable = false;
};

struct Fleet {
  MachineSpec spec;
  int count = 1;
  Require require;
};

struct Limits {
  int64_t ttl_ms = 3 * 3'600'000;
  std::optional<double> max_cost;  // in max_cost_currency
  std::string max_cost_currency = "USD";
  int max_parallel = 16;
  int64_t trial_timeout_ms = 20 * 60'000;
};

struct Schedule {
  std::string order = "latin";  // latin | abba | fixed
  uint64_t seed = 42;
  int warmup_rounds = 1;
  int runs = 10;
  int max_runs = 30;
  std::optional<double> target_ci;  // share: 0.01
  bool aa = true;                   // "auto": a duplicate of the baseline once there are two arms
};

struct Noise {
  double max_steal = 0.01;
  double repeat_steal = 0.05;
  double max_repeats = 0.20;
};

struct Suite {
  std::string name;      // unique
  std::string workload;  // empty for a command of the user's own
  std::string mode;
  std::vector<std::string> arms;
  std::string baseline;
  std::string isa;                   // bundles are built for it where their recipes can; empty: their default
  bool on_machine = false;           // its arms are compiled on the machine that runs them
  bool skip_unbuilt = false;         // an arm that cannot be built is left out, and said; else it is an error
  std::vector<std::string> command;  // the user's own program; command[0] is relative to the plan's root
  std::string
      format;  // sequential | concurrent | generic (the contract's CSVs) | wall (of a command: its run time counts)
  // Parameter -> its values, defaults filled in, canonical ("1s", "200ms"); more than one value makes points.
  // "auto" stays until the machine is known.
  std::map<std::string, std::vector<std::string>> params;
};

struct Build {
  std::string git = "worktree";
  std::vector<std::string> run;
  std::vector<std::string> files;
};

struct Plan {
  int schema = 1;
  std::string name;
  std::string file;    // as given
  std::string root;    // absolute: relative paths start here and may not leave it
  std::string sha256;  // of the file and of every --set
  std::map<std::string, Fleet> fleets;
  std::string harden_profile = "none";
  bool persistent_ok = false;
  Limits limits;
  Schedule schedule;
  Noise noise;
  std::vector<Suite> suites;
  std::map<std::string, Build> builds;
  bool redact = true;
  std::vector<std::string> claims;
  std::vector<std::string> warnings;  // "file:line:col: warning: message", in file order
  // "fleet.small.count" -> "file:line:col: ", for whoever judges the plan later; items of lists by number: "suite.0".
  std::map<std::string, std::string> places;

  // Where the key stands, else the nearest table around it, else the file.
  std::string where(std::string key) const;
};

}  // namespace benchctl
