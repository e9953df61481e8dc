#include "controller/fleet/shared.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

constexpr int64_t kHour = 3'600'000;
const std::optional<Price> kDime = Price{0.10, "USD"};

Limits capped(double cost) {
  Limits limits;
  limits.max_cost = cost;
  return limits;
}

TEST(Budget, CountsStartedHours) {
  EXPECT_DOUBLE_EQ(cost_of(*kDime, 1), 0.10);
  EXPECT_DOUBLE_EQ(cost_of(*kDime, kHour), 0.10);
  EXPECT_DOUBLE_EQ(cost_of(*kDime, kHour + 1), 0.20);
}

TEST(Budget, RefusesTheMachineThatCouldPassTheCap) {
  Budget budget(capped(0.30));
  EXPECT_TRUE(budget.reserve("a", kDime, kHour).ok());
  EXPECT_TRUE(budget.reserve("b", kDime, 2 * kHour).ok()) << "exactly the cap";
  auto refused = budget.reserve("c", kDime, kHour);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kProvisioning);
  EXPECT_NE(refused.error().message.find("0.4000 USD"), std::string::npos) << refused.error().message;
  // What is gone cost less than was set aside for it.
  budget.settle("b", kDime, kHour / 2);
  EXPECT_TRUE(budget.reserve("c", kDime, kHour).ok());
}

TEST(Budget, WhatIsFreeOrUncappedIsNeverRefused) {
  Budget uncapped{Limits{}};
  EXPECT_TRUE(uncapped.reserve("a", kDime, 1000 * kHour).ok());
  Budget budget(capped(0));
  EXPECT_TRUE(budget.reserve("a", std::nullopt, kHour).ok());
  EXPECT_FALSE(budget.reserve("b", kDime, 1).ok());
}

TEST(Budget, AnotherCurrencyCannotBeCompared) {
  Budget budget(capped(10));
  auto refused = budget.reserve("a", Price{0.1, "EUR"}, kHour);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
}

TEST(HardwareSeen, ASiblingOfTheSameFleetTakesIt) {
  HardwareSeen seen;
  EXPECT_TRUE(seen.claim("small", 0, "epyc"));
  EXPECT_FALSE(seen.claim("small", 1, "epyc"));
  EXPECT_TRUE(seen.claim("small", 0, "epyc")) << "another machine of the same slot";
  EXPECT_TRUE(seen.claim("large", 1, "epyc"));
  EXPECT_TRUE(seen.claim("small", 1, "xeon"));
}

}  // namespace
}  // namespace benchctl
