#include "controller/fleet/missing.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TrialSpec spec(int64_t number, int round, const std::string& arm) {
  TrialSpec trial;
  trial.trial = number;
  trial.round = round;
  trial.suite = "s";
  trial.arm = arm;
  trial.attempt = 1;
  return trial;
}

// Rounds -1000 (evidence), 0 (warm-up), 1 and 2, two arms each; numbers 1 to 8.
std::vector<RoundSpec> schedule() {
  std::vector<RoundSpec> rounds;
  int64_t number = 0;
  for (int round : {-1000, 0, 1, 2}) {
    int64_t a = ++number, b = ++number;
    rounds.push_back({round, {spec(a, round, "a"), spec(b, round, "b")}});
  }
  return rounds;
}

TrialRow row(int64_t number, int round, const std::string& arm, int attempt = 1, int64_t machine = 1,
             const std::string& verdict = "ok") {
  TrialRow trial;
  trial.number = number;
  trial.round = round;
  trial.suite = "s";
  trial.arm = arm;
  trial.attempt = attempt;
  trial.machine = machine;
  trial.verdict = verdict;
  return trial;
}

std::vector<int> numbers(const std::vector<RoundSpec>& rounds) {
  std::vector<int> list;
  for (const RoundSpec& round : rounds) list.push_back(round.round);
  return list;
}

TEST(Missing, OfNothingDoneIsEverythingAsFirstAttempts) {
  auto rounds = rounds_to_run(schedule(), {});
  EXPECT_EQ(numbers(rounds), (std::vector<int>{-1000, 0, 1, 2}));
  for (const RoundSpec& round : rounds)
    for (const TrialSpec& trial : round.trials) EXPECT_EQ(trial.attempt, 1);
}

TEST(Missing, AWholeRunMissesNothingNotEvenItsWarmUps) {
  EXPECT_TRUE(rounds_to_run(schedule(), {row(5, 1, "a"), row(6, 1, "b"), row(7, 2, "a"), row(8, 2, "b")}).empty());
}

TEST(Missing, AFailedTrialIsAResultAndAStoppedOneIsNone) {
  EXPECT_TRUE(
      rounds_to_run(schedule(), {row(5, 1, "a"), row(6, 1, "b", 1, 1, "timeout"), row(7, 2, "a"), row(8, 2, "b")})
          .empty());
  auto rounds =
      rounds_to_run(schedule(), {row(5, 1, "a"), row(6, 1, "b"), row(7, 2, "a"), row(8, 2, "b", 1, 1, "stopped")});
  EXPECT_EQ(numbers(rounds), (std::vector<int>{-1000, 0, 2}));
  // The whole round again, both arms beside each other.
  EXPECT_EQ(rounds[2].trials[0].attempt, 2);
  EXPECT_EQ(rounds[2].trials[1].attempt, 2);
}

TEST(Missing, AttemptsComeAfterAllThatStand) {
  auto rounds = rounds_to_run(schedule(), {row(3, 0, "a"), row(4, 0, "b", 3), row(5, 1, "a", 2)});
  EXPECT_EQ(numbers(rounds), (std::vector<int>{-1000, 0, 1, 2}));
  EXPECT_EQ(rounds[0].trials[0].attempt, 1);
  EXPECT_EQ(rounds[1].trials[0].attempt, 4);
  EXPECT_EQ(rounds[1].trials[1].attempt, 4);
  EXPECT_EQ(rounds[2].trials[1].attempt, 3);
  EXPECT_EQ(rounds[3].trials[0].attempt, 1);
}

TEST(Missing, HalfARoundOnEachOfTwoMachinesIsNoRound) {
  std::vector<TrialRow> rows = {row(5, 1, "a", 1, 1), row(6, 1, "b", 1, 2), row(7, 2, "a"), row(8, 2, "b")};
  EXPECT_EQ(numbers(rounds_to_run(schedule(), rows)), (std::vector<int>{-1000, 0, 1}));
  // Once it ran whole on one machine, the halves do not matter any more.
  rows.push_back(row(5, 1, "a", 2, 2));
  rows.push_back(row(6, 1, "b", 2, 2));
  EXPECT_TRUE(rounds_to_run(schedule(), rows).empty());
}

TEST(Missing, NumbersOfAnotherShapeDoNotClash) {
  // A machine with other CPUs: its number 7 was another trial, in its second attempt.
  auto rounds = rounds_to_run(schedule(), {row(7, 9, "z", 2)});
  EXPECT_EQ(rounds[3].trials[0].attempt, 3);
}

}  // namespace
}  // namespace benchctl
