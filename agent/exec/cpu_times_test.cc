#include "agent/exec/cpu_times.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

// cpuN user nice system idle iowait irq softirq steal guest guest_nice
std::string stat_of(const std::string& cpu0, const std::string& cpu1) {
  return "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 " + cpu0 + "\ncpu1 " + cpu1 + "\nintr 5 0 0\nctxt 7\n";
}

StealReading reading(const std::string& before0, const std::string& before1, const std::string& after0,
                     const std::string& after1, const std::vector<int>& cpus) {
  return steal_between(parse_cpu_table(stat_of(before0, before1)), parse_cpu_table(stat_of(after0, after1)), cpus);
}

TEST(CpuTimes, GuestTimeIsNotCountedTwice) {
  CpuTable table = parse_cpu_table(stat_of("100 10 20 300 5 1 2 4 90 10", "0 0 0 0 0 0 0 0 0 0"));
  EXPECT_EQ(table.at(0).total, 442);
  EXPECT_EQ(table.at(0).idle, 305);
  EXPECT_EQ(table.at(0).steal, 4);
  EXPECT_EQ(table.size(), 2u);
}

TEST(CpuTimes, StealIsThatOfTheChosenCpus) {
  auto of_one = reading("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "100 0 0 95 0 0 0 5", "0 0 0 0 0 0 0 200", {0});
  EXPECT_EQ(of_one.total_jiffies, 200);
  EXPECT_EQ(of_one.steal_jiffies, 5);
  ASSERT_TRUE(of_one.percent);
  EXPECT_DOUBLE_EQ(*of_one.percent, 2.5);
  auto of_both = reading("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "100 0 0 95 0 0 0 5", "0 0 0 0 0 0 0 200", {0, 1});
  EXPECT_EQ(of_both.steal_jiffies, 205);
}

TEST(CpuTimes, TooShortToSayKeepsTheTicks) {
  // 199 jiffies: one tick would be more than half a percent; ten at 5 % need 200.
  auto steal = reading("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "0 0 0 198 0 0 0 1", "0 0 0 0 0 0 0 0", {0});
  EXPECT_FALSE(steal.percent);
  EXPECT_EQ(steal.note, "too short to say");
  EXPECT_EQ(steal.steal_jiffies, 1);
  EXPECT_TRUE(reading("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "0 0 0 199 0 0 0 1", "0 0 0 0 0 0 0 0", {0}).percent);
}

TEST(CpuTimes, BackwardsIsUnreliableAndNeverNegative) {
  auto steal = reading("0 0 0 0 0 0 0 50", "0 0 0 0 0 0 0 0", "0 0 0 400 0 0 0 40", "0 0 0 0 0 0 0 0", {0});
  EXPECT_FALSE(steal.percent);
  EXPECT_EQ(steal.steal_jiffies, 0);
  EXPECT_EQ(steal.note.substr(0, 10), "unreliable");
}

TEST(CpuTimes, AbsentColumnAndAbsentCpuAreSaid) {
  auto old_kernel = reading("0 0 0 0 0 0 0", "0 0 0 0", "0 0 0 400 0 0 0", "0 0 0 400", {0});
  EXPECT_FALSE(old_kernel.percent);
  EXPECT_EQ(old_kernel.note, "no steal column in /proc/stat");
  auto offline = reading("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0", "0 0 0 9 0 0 0 0", "0 0 0 9 0 0 0 0", {0, 7});
  EXPECT_EQ(offline.note, "CPU 7 is not in /proc/stat");
}

TEST(CpuTimes, BusyIsInCpusAndLeavesStealOut) {
  CpuTable before = parse_cpu_table(stat_of("0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0"));
  CpuTable after = parse_cpu_table(stat_of("50 0 0 40 0 0 0 10", "0 0 0 90 10 0 0 0"));
  EXPECT_DOUBLE_EQ(*busy_between(before, after, {0, 1}), 0.5);
  EXPECT_DOUBLE_EQ(*busy_between(before, after, {1}), 0.0);
  EXPECT_FALSE(busy_between(after, before, {0, 1}));
  EXPECT_FALSE(busy_between(before, before, {0, 1}));
}

TEST(CpuTimes, OddLinesAreLeftOut) {
  EXPECT_TRUE(parse_cpu_table("cpu\ncpux 1 2 3 4\ncpu0\ncpu1 1 2 x 4 5\ncpu-1 1 2 3 4 5\n").empty());
  EXPECT_TRUE(parse_cpu_table("").empty());
}

}  // namespace
}  // namespace benchctl
