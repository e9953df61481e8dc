#include "agent/exec/repeat_rule.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TrialSpec spec(int64_t trial, const std::string& point, const std::string& arm, int round = 1) {
  TrialSpec one;
  one.trial = trial;
  one.suite = "s";
  one.point = point;
  one.arm = arm;
  one.round = round;
  return one;
}

RoundSpec round_of(std::vector<TrialSpec> trials, int round = 1) {
  for (TrialSpec& one : trials) one.round = round;
  return {round, std::move(trials)};
}

TrialRecord stolen(std::optional<double> percent, int64_t ticks = 100) {
  TrialRecord record;
  record.steal_percent = percent;
  record.steal_jiffies = ticks;
  return record;
}

// Runs a pass as the runner does and tells the trials that ran: "1a1 2a1". `steal` gives each run's record.
struct Ran {
  std::string trials;
  std::vector<PointOver> repeated;
  int said_used_up = 0;
};
template <typename Steal>
Ran run(const RoundSpec& round, const Job& job, RepeatsSpent& spent, Steal steal, int shift = 0) {
  Ran ran;
  RoundPass pass(round, shift);
  for (int turns = 0; pass.next() != nullptr && turns < 1000; ++turns) {
    TrialSpec next = *pass.next();
    ran.trials += (ran.trials.empty() ? "" : " ") + std::to_string(next.trial) + "a" + std::to_string(next.attempt);
    auto over = pass.finished(steal(next), job.repeat_steal_percent);
    if (!over) continue;
    RepeatAnswer answer = may_repeat(job, spent, over->attempt);
    if (answer == RepeatAnswer::kStandsAndSay) {
      spent.said_used_up = true;
      ++ran.said_used_up;
    }
    if (answer != RepeatAnswer::kRepeat) continue;
    ++spent.made;
    ran.repeated.push_back(*over);
    pass.repeat(*over);
  }
  return ran;
}

Job job_of(double percent, int64_t repeats) {
  Job job;
  job.repeat_steal_percent = percent;
  job.max_repeats = repeats;
  return job;
}

const RoundSpec kTwoPoints =
    round_of({spec(1, "w=1", "a"), spec(2, "w=1", "b"), spec(3, "w=2", "b"), spec(4, "w=2", "a")});

TEST(RepeatRule, AllArmsOfThePointRunAgainInTheSameOrderBeforeTheNextPoint) {
  RepeatsSpent spent;
  Ran ran = run(kTwoPoints, job_of(5, 9), spent,
                [](const TrialSpec& trial) { return stolen(trial.trial == 1 && trial.attempt == 1 ? 7.5 : 0); });
  EXPECT_EQ(ran.trials, "1a1 2a1 1a2 2a2 3a1 4a1");
  ASSERT_EQ(ran.repeated.size(), 1u);
  EXPECT_EQ(point_repeated_fields(1, ran.repeated[0]).dump(),
            R"({"round":1,"suite":"s","point":"w=1","attempt":2,"trial":1,"arm":"a","steal_percent":7.5})");
  EXPECT_EQ(spent.made, 1);
}

TEST(RepeatRule, TheOutcomeOfATrialDoesNotMatter) {
  for (const char* verdict : {"ok", "exit", "timeout", "throttled", "oom"}) {
    RepeatsSpent spent;
    Ran ran = run(kTwoPoints, job_of(5, 1), spent, [&](const TrialSpec& trial) {
      TrialRecord record = stolen(trial.trial == 2 ? 6 : 0);
      record.verdict = verdict;
      return record;
    });
    EXPECT_EQ(ran.trials, "1a1 2a1 1a2 2a2 3a1 4a1") << verdict;
  }
}

TEST(RepeatRule, UnknownStealAndTheLimitItselfNeverTrigger) {
  RepeatsSpent spent;
  auto none = [&](const TrialRecord& record, double limit = 5) {
    return run(kTwoPoints, job_of(limit, 9), spent, [&](const TrialSpec&) { return record; }).repeated.size();
  };
  EXPECT_EQ(none(stolen(std::nullopt)), 0u);  // absent, unreliable, or too short to say
  EXPECT_EQ(none(stolen(5.0)), 0u);
  EXPECT_EQ(none(stolen(100), 0), 0u);     // 0 is never
  EXPECT_EQ(none(stolen(3.0, 9), 1), 0u);  // nine ticks are too few for any limit
  EXPECT_EQ(spent.made, 0);
  EXPECT_EQ(none(stolen(3.0, 10), 1), 9u);
}

TEST(RepeatRule, WarmUpsAreNeverRepeated) {
  for (int round : {0, -1, -5}) {
    RepeatsSpent spent;
    Ran ran = run(round_of({spec(1, "", "a"), spec(2, "", "b")}, round), job_of(5, 9), spent,
                  [](const TrialSpec&) { return stolen(50); });
    EXPECT_EQ(ran.trials, "1a1 2a1") << round;
    EXPECT_EQ(ran.said_used_up, 0);
  }
}

TEST(RepeatRule, TheLimitCountsPointRoundsOfTheWholeJobAndIsSaidOnce) {
  RepeatsSpent spent;
  auto always = [](const TrialSpec&) { return stolen(50); };
  Ran first = run(kTwoPoints, job_of(5, 3), spent, always);
  EXPECT_EQ(first.trials, "1a1 2a1 1a2 2a2 1a3 2a3 1a4 2a4 3a1 4a1");
  EXPECT_EQ(first.said_used_up, 1);
  Ran second = run(kTwoPoints, job_of(5, 3), spent, always);
  EXPECT_EQ(second.trials, "1a1 2a1 3a1 4a1");  // they stand as they are
  EXPECT_EQ(second.said_used_up, 0);
  EXPECT_EQ(spent.made, 3);
}

TEST(RepeatRule, AfterARestartAttemptsGoOnFromTheShift) {
  RepeatsSpent spent{.made = 1};
  Ran ran = run(
      kTwoPoints, job_of(5, 2), spent, [](const TrialSpec& trial) { return stolen(trial.trial == 4 ? 9 : 0); }, 2);
  EXPECT_EQ(ran.trials, "1a3 2a3 3a3 4a3 3a4 4a4");
  EXPECT_EQ(ran.repeated[0].attempt, 4);
  EXPECT_EQ(spent.made, 2);
  EXPECT_EQ(ran.said_used_up, 1);  // the repeat was over too
}

TEST(RepeatRule, AnAttemptOfAPointIsOneNumberForAllItsArms) {
  RoundSpec round = kTwoPoints;
  round.trials[1].attempt = 4;
  RepeatsSpent spent;
  Ran ran = run(round, job_of(5, 1), spent, [](const TrialSpec& trial) { return stolen(trial.trial == 1 ? 9 : 0); });
  EXPECT_EQ(ran.trials, "1a1 2a4 1a5 2a5 3a1 4a1");
}

TEST(RepeatRule, APointWhoseArmsAreApartIsJudgedAsAWhole) {
  RoundSpec round = round_of({spec(1, "p", "a"), spec(2, "q", "a"), spec(3, "p", "b"), spec(4, "q", "b")});
  RepeatsSpent spent;
  Ran ran = run(round, job_of(5, 1), spent, [](const TrialSpec& trial) { return stolen(trial.trial == 1 ? 9 : 0); });
  EXPECT_EQ(ran.trials, "1a1 2a1 3a1 1a2 3a2 4a1");
}

TEST(RepeatRule, TheWorstTrialIsNamed) {
  RepeatsSpent spent;
  Ran ran = run(kTwoPoints, job_of(5, 1), spent, [](const TrialSpec& trial) {
    return stolen(trial.attempt > 1 ? 0 : trial.trial == 3 ? 6 : trial.trial == 4 ? 20 : 0);
  });
  ASSERT_EQ(ran.repeated.size(), 1u);
  EXPECT_EQ(ran.repeated[0].trial, 4);
  EXPECT_EQ(ran.repeated[0].arm, "a");
}

TEST(RepeatRule, AttemptNumbersEndAtTwoDigits) {
  EXPECT_EQ(may_repeat(job_of(5, 1000), {}, 99), RepeatAnswer::kRepeat);
  EXPECT_EQ(may_repeat(job_of(5, 1000), {}, 100), RepeatAnswer::kStandsAndSay);
}

}  // namespace
}  // namespace benchctl
