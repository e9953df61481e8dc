// The files of one pulled unit, grouped by trial and judged: what trial.json says is believed only as far as it agrees
// with the plan, what was printed only when it is whole. No store in here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/store/result_csv.h"
#include "controller/store/store.h"
#include "lib/pack.h"
#include "lib/result.h"
#include "lib/wire/trial.h"

namespace benchctl {

using TrialKey = std::pair<int64_t, int>;  // number, attempt

struct RawTrial {
  TrialKey key;
  std::string folder;                     // "trials/000042/a1"
  std::vector<const PackEntry*> entries;  // sorted by path
};

struct RawUnit {
  std::vector<RawTrial> trials;          // by number, attempt
  std::vector<const PackEntry*> others;  // facts, events, steal.csv …
  std::vector<UnitResult::Note> strays;  // below trials/, but in no place that a trial's file has
};
RawUnit group_by_trial(const std::vector<PackEntry>& entries);

// sha256 over "sha256 size path-in-the-trial" lines: two attempts are the same exactly when all their files are.
std::string evidence_of(const RawTrial& trial);

struct ReadTrial {
  TrialRecord record;
  std::string point_hash;
  std::string verdict;                  // the agent's, or "malformed"
  std::string reason;                   // sanitised
  std::unique_ptr<std::string> output;  // stdout; `samples` point into it, so it stays where it is
  std::vector<ResultSample> samples;
  std::vector<std::pair<std::string, const PackEntry*>> histograms;  // case, file
};

// Expected trials by key; a repeat whose attempt the plan did not spell out falls back to the first of its number.
class Expectations {
 public:
  explicit Expectations(const std::vector<ExpectedTrial>& expected);
  const ExpectedTrial* find(const TrialKey& key) const;

 private:
  std::map<TrialKey, const ExpectedTrial*> by_key_;
};

// kRejected: the trial is refused (the message says why). Any other error: the unit cannot be read (a file is missing
// or differs from its manifest).
Result<ReadTrial> read_trial(int unit_dir, const RawTrial& trial, const Expectations& expectations);

}  // namespace benchctl
