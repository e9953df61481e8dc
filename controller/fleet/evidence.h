// What the runners say about themselves on the machine: `--trace` (every statement of a request, hashed: arms with
// differing traces are not compared) and `--info` (versions of what they really run on). They run as trials of their
// own before the first round, under the same containment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "controller/fleet/run_context.h"
#include "controller/plan/expand.h"
#include "lib/wire/job.h"

namespace benchctl {

// Far below every warm-up round; their formats are "trace" and "info", from which no samples come.
inline constexpr int kTraceRound = -1000;
inline constexpr int kInfoRound = -999;

// One trial an arm of each suite whose workload declares the command, numbered from `first_number`.
std::vector<RoundSpec> evidence_rounds(const Expansion& expansion, const RunInput& input, int64_t first_number);

// The first trial of an arm in the plan's order; nullptr when it has none.
const TrialSpec* first_trial(const Expansion& expansion, const std::string& suite, const std::string& arm);

// What the newest attempt of a trial in a pulled unit printed.
Result<std::string> newest_output(const std::string& folder, int64_t trial, int64_t limit);

// Gathers what came home of the evidence rounds, and writes it to the store once.
class Evidence {
 public:
  // `folder`: the pulled unit of `round`. Other rounds are nothing.
  void take(const std::string& run, const std::string& folder, const RoundSpec& round);
  Status save(Store& store);

 private:
  std::map<std::string, TraceRow> rows_;  // by suite and arm
};

}  // namespace benchctl
