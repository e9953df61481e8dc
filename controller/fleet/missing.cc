#include "controller/fleet/missing.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace benchctl {
namespace {

using Key = std::tuple<std::string, std::string, std::string, bool, int>;

// The newest attempt of each trial by what it measures, and of each trial number: a machine with other CPUs may number
// its trials differently.
class Newest {
 public:
  explicit Newest(const std::vector<TrialRow>& rows) {
    for (const TrialRow& row : rows) {
      const TrialRow*& known = by_key_[{row.suite, row.point, row.arm, row.aa_copy, row.round}];
      if (known == nullptr || known->attempt < row.attempt) known = &row;
      int& attempt = by_number_[row.number];
      attempt = std::max(attempt, row.attempt);
    }
  }

  const TrialRow* find(const TrialSpec& spec) const {
    auto found = by_key_.find({spec.suite, spec.point, spec.arm, spec.aa_copy, spec.round});
    return found == by_key_.end() ? nullptr : found->second;
  }
  int attempts(const TrialSpec& spec) const {
    auto number = by_number_.find(spec.trial);
    const TrialRow* row = find(spec);
    return std::max(number == by_number_.end() ? 0 : number->second, row == nullptr ? 0 : row->attempt);
  }

 private:
  std::map<Key, const TrialRow*> by_key_;
  std::map<int64_t, int> by_number_;
};

bool is_done(const RoundSpec& round, const Newest& newest) {
  int64_t machine = 0;
  for (const TrialSpec& spec : round.trials) {
    const TrialRow* row = newest.find(spec);
    if (row == nullptr || row->verdict == "stopped") return false;
    if (machine != 0 && row->machine != machine) return false;
    machine = row->machine;
  }
  return true;
}

}  // namespace

std::vector<RoundSpec> rounds_to_run(const std::vector<RoundSpec>& rounds, const std::vector<TrialRow>& rows) {
  Newest newest(rows);
  std::vector<RoundSpec> missing;
  bool scored = false;
  for (const RoundSpec& round : rounds) {
    if (round.round > 0 && is_done(round, newest)) continue;
    scored = scored || round.round > 0;
    missing.push_back(round);
    // One number for the whole round: its attempts must stand beside each other.
    int attempts = 0;
    for (const TrialSpec& spec : round.trials) attempts = std::max(attempts, newest.attempts(spec));
    for (TrialSpec& spec : missing.back().trials) spec.attempt = attempts + 1;
  }
  if (!scored) missing.clear();
  return missing;
}

}  // namespace benchctl
