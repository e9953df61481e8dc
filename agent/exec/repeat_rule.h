// The steal rule of the plan. It looks at steal alone, never at what was measured: a rule that saw the outcome could
// prefer one arm. When one trial of a point was over, all arms of the point run again, and every attempt is kept.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/json.h"
#include "lib/wire/job.h"
#include "lib/wire/trial.h"

namespace benchctl {

// What the whole job has used of its repeats, over all starts of the agent: from the events.
struct RepeatsSpent {
  int64_t made = 0;
  bool said_used_up = false;
};

// A point of which a trial was over.
struct PointOver {
  std::string suite, point;
  int attempt = 0;  // that would follow
  int64_t trial = 0;
  std::string arm;
  double steal_percent = 0;  // of the worst trial; the first of equal ones
};
Json point_repeated_fields(int round, const PointOver& over);

// Fewer stolen ticks are what the counter's grain can feign: one tick in 200 ms of two CPUs would be 2.5 %.
inline constexpr int64_t kLeastStolenTicks = 10;

// Whether the trial lost more than `limit_percent` (0: never) of its CPUs; false when its steal is not known.
bool lost_too_much(const TrialRecord& record, double limit_percent);

enum class RepeatAnswer { kRepeat, kStands, kStandsAndSay };
// kStandsAndSay: the first time that the repeats are used up. An attempt number has two digits at most.
RepeatAnswer may_repeat(const Job& job, const RepeatsSpent& spent, int next_attempt);

// The trials of one pass over a round in the order to run them, repeats included. Arms of a point need not be adjacent:
// it is judged when its last trial has ended.
class RoundPass {
 public:
  // `shift` is added to every attempt number (attempt_shift() of round_queue.h).
  RoundPass(const RoundSpec& round, int shift);

  const TrialSpec* next() const { return todo_.empty() ? nullptr : &todo_.front(); }
  // How the trial that next() gave went. A point comes back when this was its last trial, the round is scored and one
  // of them was over.
  std::optional<PointOver> finished(const TrialRecord& record, double limit_percent);
  void repeat(const PointOver& over);  // its trials are next, in the same order

 private:
  struct Point {
    std::vector<TrialSpec> trials;  // of the current attempt
    size_t ended = 0;
    std::optional<PointOver> over;
  };
  using Key = std::pair<std::string, std::string>;  // suite, point
  Point* find(const Key& key);

  std::deque<TrialSpec> todo_;
  std::vector<std::pair<Key, Point>> points_;
};

}  // namespace benchctl
