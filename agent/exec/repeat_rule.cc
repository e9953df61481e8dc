#include "agent/exec/repeat_rule.h"

#include <algorithm>

namespace benchctl {
namespace {

constexpr int kLastAttempt = 99;  // of trial_spec_from_json()

}  // namespace

Json point_repeated_fields(int round, const PointOver& over) {
  Json fields = Json::object();
  fields.set("round", round);
  fields.set("suite", over.suite);
  fields.set("point", over.point);
  fields.set("attempt", over.attempt);
  fields.set("trial", over.trial);
  fields.set("arm", over.arm);
  fields.set("steal_percent", over.steal_percent);
  return fields;
}

bool lost_too_much(const TrialRecord& record, double limit_percent) {
  return limit_percent > 0 && record.steal_percent && *record.steal_percent > limit_percent &&
         record.steal_jiffies >= kLeastStolenTicks;
}

RepeatAnswer may_repeat(const Job& job, const RepeatsSpent& spent, int next_attempt) {
  if (spent.made < job.max_repeats && next_attempt <= kLastAttempt) return RepeatAnswer::kRepeat;
  return spent.said_used_up ? RepeatAnswer::kStands : RepeatAnswer::kStandsAndSay;
}

RoundPass::RoundPass(const RoundSpec& round, int shift) {
  for (TrialSpec spec : round.trials) {
    spec.attempt += shift;
    Key key{spec.suite, spec.point};
    Point* point = find(key);
    if (point == nullptr) point = &points_.emplace_back(key, Point()).second;
    point->trials.push_back(spec);
    todo_.push_back(std::move(spec));
  }
}

RoundPass::Point* RoundPass::find(const Key& key) {
  auto found = std::find_if(points_.begin(), points_.end(), [&](const auto& one) { return one.first == key; });
  return found == points_.end() ? nullptr : &found->second;
}

std::optional<PointOver> RoundPass::finished(const TrialRecord& record, double limit_percent) {
  const TrialSpec spec = todo_.front();
  todo_.pop_front();
  Point& point = *find({spec.suite, spec.point});
  ++point.ended;
  if (spec.round > 0 && lost_too_much(record, limit_percent) &&
      (!point.over || *record.steal_percent > point.over->steal_percent))
    point.over = PointOver{spec.suite, spec.point, 0, spec.trial, spec.arm, *record.steal_percent};
  if (point.ended < point.trials.size() || !point.over) return std::nullopt;
  auto last = std::max_element(point.trials.begin(), point.trials.end(),
                               [](const TrialSpec& a, const TrialSpec& b) { return a.attempt < b.attempt; });
  point.over->attempt = last->attempt + 1;
  return point.over;
}

void RoundPass::repeat(const PointOver& over) {
  Point& point = *find({over.suite, over.point});
  point.ended = 0;
  point.over.reset();
  // One number for all arms, above each of theirs, so that an attempt of a point is one set of trials.
  for (TrialSpec& spec : point.trials) spec.attempt = over.attempt;
  todo_.insert(todo_.begin(), point.trials.begin(), point.trials.end());
}

}  // namespace benchctl
