#include "controller/plan/order.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace benchctl {
namespace {

using Order = std::vector<size_t>;

// Published values of splitmix64.c for seed 1234567.
TEST(SplitMix64, GivesThePublishedNumbers) {
  SplitMix64 random(1234567);
  for (uint64_t expected :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u})
    EXPECT_EQ(random.next(), expected);
}

// Every order of 4 about equally often. 24 cells of 1,000: chi-square above 60 has a chance of 4e-5.
bool uniform(const std::function<Order(size_t, SplitMix64)>& shuffle) {
  std::map<Order, int> counts;
  for (uint64_t seed = 0; seed < 24'000; ++seed) ++counts[shuffle(4, SplitMix64(seed * 7919))];
  double chi = 24.0 - static_cast<double>(counts.size());
  chi *= 1000;
  for (const auto& [order, count] : counts) chi += (count - 1000.0) * (count - 1000.0) / 1000.0;
  return chi < 60;
}

TEST(Shuffle, EveryOrderEquallyOftenAndMutantsAreCaught) {
  EXPECT_TRUE(uniform(shuffled));
  auto naive = [](size_t count, SplitMix64 random) {  // swaps with any place: the classic mistake
    Order order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = 0; i < count; ++i) std::swap(order[i], order[random.below(count)]);
    return order;
  };
  auto sattolo = [](size_t count, SplitMix64 random) {  // off by one: never leaves one in its place
    Order order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i - 1)]);
    return order;
  };
  EXPECT_FALSE(uniform(naive));
  EXPECT_FALSE(uniform(sattolo));
  EXPECT_FALSE(uniform([](size_t count, SplitMix64) { return shuffled(count, SplitMix64(1)); }));
}

// Over rounds first..first+k-1 every arm takes every position once.
bool latin(const std::function<Order(int)>& order_of, int first, size_t k) {
  std::set<std::pair<size_t, size_t>> seen;
  for (int round = first; round < first + static_cast<int>(k); ++round) {
    Order order = order_of(round);
    if (order.size() != k) return false;
    for (size_t position = 0; position < k; ++position) seen.insert({order[position], position});
  }
  return seen.size() == k * k;
}

TEST(ArmOrder, LatinOverEachCycleForManySeedsArmsAndPoints) {
  for (uint64_t seed = 0; seed < 200; ++seed)
    for (size_t k = 2; k <= 8; ++k)
      for (int cycle : {-1, 0, 3}) {
        OrderKey key{"latin", seed, static_cast<int>(seed % 3)};
        auto order_of = [&](int round) { return arm_order(key, round, seed % 5, k); };
        EXPECT_TRUE(latin(order_of, 1 + cycle * static_cast<int>(k), k)) << seed << " " << k << " " << cycle;
      }
  EXPECT_FALSE(latin([](int round) { return arm_order({"fixed", 1, 0}, round, 0, 3); }, 1, 3));
  EXPECT_FALSE(latin([](int round) { return shuffled(3, SplitMix64(static_cast<uint64_t>(round))); }, 1, 3));
}

TEST(ArmOrder, AbbaIsAnOrderAndItsReverse) {
  std::set<Order> firsts;
  for (int pair = -2; pair < 40; ++pair) {
    Order one = arm_order({"abba", 42, 0}, 1 + 2 * pair, 0, 3);
    Order two = arm_order({"abba", 42, 0}, 2 + 2 * pair, 0, 3);
    EXPECT_EQ(one, Order(two.rbegin(), two.rend())) << pair;
    firsts.insert(one);
  }
  EXPECT_EQ(firsts.size(), 6u) << "each pair is begun anew";
}

TEST(ArmOrder, TheStartIsRandomAndMachinesAndPointsDiffer) {
  std::map<size_t, int> first;
  for (uint64_t seed = 0; seed < 3000; ++seed) ++first[arm_order({"latin", seed, 0}, 1, 0, 3)[0]];
  for (size_t arm = 0; arm < 3; ++arm) EXPECT_NEAR(first[arm], 1000, 150);
  auto rounds = [](int machine, size_t point) {
    std::vector<Order> all;
    for (int round = 1; round <= 12; ++round) all.push_back(arm_order({"latin", 42, machine}, round, point, 3));
    return all;
  };
  EXPECT_EQ(rounds(0, 0), rounds(0, 0));
  EXPECT_NE(rounds(0, 0), rounds(1, 0));
  EXPECT_NE(rounds(0, 0), rounds(0, 1));
}

TEST(PointOrder, ShufflesEachRoundAndKeepsThePlansOrderWhenFixed) {
  std::set<Order> seen;
  for (int round = -3; round < 50; ++round) {
    Order order = point_order({"latin", 42, 0}, round, 5);
    seen.insert(order);
    EXPECT_EQ(std::set<size_t>(order.begin(), order.end()).size(), 5u);
    EXPECT_EQ(point_order({"fixed", 42, 0}, round, 5), (Order{0, 1, 2, 3, 4}));
  }
  EXPECT_GT(seen.size(), 30u);
}

}  // namespace
}  // namespace benchctl
