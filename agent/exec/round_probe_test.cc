#include "agent/exec/round_probe.h"

#include <gtest/gtest.h>

#include <numeric>

#include "agent/exec/cpu_list.h"

namespace benchctl {
namespace {

// Moves a little at each look, so that a busy loop on it ends.
class TickingClock final : public Clock {
 public:
  Nanos now() override { return now_ += Nanos(10'000); }
  int64_t unix_ms() override { return 0; }
  void sleep(Nanos duration) override { now_ += duration; }

 private:
  Nanos now_{0};
};

TEST(RoundProbe, FiguresAreNearestRanks) {
  std::vector<int64_t> hundred(100);
  std::iota(hundred.rbegin(), hundred.rend(), 1);  // 100 … 1
  EXPECT_EQ(spin_figures(hundred), (SpinFigures{50, 99, 100}));
  EXPECT_EQ(spin_figures({7}), (SpinFigures{7, 7, 7}));
  EXPECT_EQ(spin_figures({}), std::nullopt);
}

TEST(RoundProbe, SpinsForItsSpanAndTimesEachQuantum) {
  TickingClock clock;
  // Each turn looks three times: before, after, and at the deadline.
  std::vector<int64_t> durations = spin(clock, 1, std::chrono::microseconds(300));
  EXPECT_EQ(durations, std::vector<int64_t>(10, 10'000));
  EXPECT_EQ(spin(clock, 1, Nanos(0)).size(), 1u);
}

TEST(RoundProbe, AQuantumIsCalibratedByTheClock) {
  TickingClock clock;  // 5,000 iterations in 10 µs
  EXPECT_EQ(calibrate_spin(clock), 25'000);
}

TEST(RoundProbe, MeasuresHereAndComesBackToItsCpus) {
  SystemClock clock;
  CgroupHost none;
  auto home = allowed_cpus();
  ASSERT_TRUE(home);
  RoundProbe probe(clock, none);
  auto fields = probe.take({home->back()}, 5, 3, 0.12345);
  ASSERT_TRUE(fields) << fields.error().message;
  EXPECT_EQ((*fields)["round"].as_int(), 3);
  EXPECT_EQ((*fields)["busy"].as_double(), 0.123);
  int64_t p50 = (*fields)["spin_p50_ns"].as_int(), p99 = (*fields)["spin_p99_ns"].as_int();
  EXPECT_GT(p50, 0);
  EXPECT_LE(p50, p99);
  EXPECT_LE(p99, (*fields)["spin_max_ns"].as_int());
  EXPECT_EQ(*allowed_cpus(), *home);
}

TEST(RoundProbe, WhatWasNotMeasuredIsNull) {
  SystemClock clock;
  CgroupHost none;
  auto home = allowed_cpus();
  auto fields = RoundProbe(clock, none).take({8191}, 5, 1, std::nullopt);  // a CPU that this machine does not have
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->dump(), R"({"round":1,"busy":null,"spin_p50_ns":null,"spin_p99_ns":null,"spin_max_ns":null,)"
                            R"("steal_jiffies":null,"psi_cpu_some":null})");
  EXPECT_EQ(*allowed_cpus(), *home);
}

}  // namespace
}  // namespace benchctl
