// What the controller asks an agent to do. JSON on the wire; version checked before anything else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

inline constexpr int kJobVersion = 2;

// One command of a trial. "run" is the timed one; "setup" and "cleanup" are untimed but under the same containment.
struct Phase {
  std::string name;               // setup | run | check | cleanup
  std::vector<std::string> argv;  // argv[0] is relative to the bundle folder ("bin/c_sqlite") or absolute
};

struct TrialSpec {
  int64_t trial = 0;  // unique in the run, > 0; names the folder trials/000042
  int attempt = 1;
  std::string suite;
  std::string point;  // canonical "workers=4", "" when the suite has a single point
  std::string arm;
  bool aa_copy = false;  // the duplicate of the baseline
  int round = 0;         // 0 and below: warm-up rounds, discarded by the plan; 1..runs: scored
  int position = 0;      // place among the arms of its point in this round, from 0
  std::string format;    // sequential | concurrent | generic: the contract's CSV on stdout
  std::string definition_hash;
  std::map<std::string, std::string> params;
  std::string bundle;  // sha256 of the bundle it runs from
  std::vector<Phase> phases;
  std::map<std::string, std::string> env;  // beside the contract's own variables
  int64_t timeout_ms = 0;
};

struct RoundSpec {
  int round = 0;
  std::vector<TrialSpec> trials;  // in the order to run them
};

struct Job {
  int version = kJobVersion;
  std::string run;                    // run id
  std::string machine;                // machine name
  uint64_t seed = 0;                  // BENCHCTL_SEED of trial t is seed ^ t, below 2^63
  std::string cpus;                   // cpu list for trials ("0-1"); empty: all that the agent may use
  std::string bundles_dir;            // bundles lie at <bundles_dir>/<sha256>/
  int64_t linger_ms = 120'000;        // with nothing to do, before sealing by itself
  int64_t ack_wait_ms = 2'000;        // at a round boundary, for a connected controller to pull the round
  int64_t stdout_cap = 64 << 20;      // bytes a phase may print on each of stdout and stderr
  int64_t min_free_bytes = 64 << 20;  // free space needed in the work directory before a trial starts
  int64_t memory_bytes = 0;           // of a trial; 0: no limit
  int64_t max_pids = 4096;
  double max_other_busy =
      0.10;  // share of one CPU-second that others may use before a round starts (waited for, bounded)
  int64_t quiet_wait_ms = 10'000;  // how long a round start waits for that, then it starts and says so
  // A scored point of a round one of whose trials lost more than this share of its CPUs to steal is run again as a
  // whole, all arms, as the next attempt; 0: never.
  double repeat_steal_percent = 0;
  int64_t max_repeats = 0;       // of such repeats in the job
  int64_t probe_ms = 100;        // calibrated spin before each round; 0: none
  Json harden = Json::object();  // wire/harden.h: what must still be quiet; empty: nothing was asked for
  std::vector<RoundSpec> rounds;
};

Json trial_spec_to_json(const TrialSpec& spec);
Result<TrialSpec> trial_spec_from_json(const Json& json);
Json to_json(const Job& job);
Json to_json(const RoundSpec& round);
Result<Job> job_from_json(const Json& json);
Result<RoundSpec> round_from_json(const Json& json);

}  // namespace benchctl
