#include "lib/clock.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Clock, FakeClockMovesOnlyBySleeping) {
  FakeClock clock(1000);
  EXPECT_EQ(clock.now(), Nanos{0});
  clock.sleep(milliseconds(1500));
  EXPECT_EQ(clock.now(), milliseconds(1500));
  EXPECT_EQ(clock.unix_ms(), 2500);
}

TEST(Clock, DeadlinePassesExactlyAtItsPoint) {
  FakeClock clock;
  Deadline deadline = Deadline::in(clock, seconds(2));
  clock.sleep(seconds(2) - Nanos(1));
  EXPECT_FALSE(deadline.passed(clock));
  EXPECT_EQ(deadline.left(clock), Nanos(1));
  clock.sleep(Nanos(1));
  EXPECT_TRUE(deadline.passed(clock));
  clock.sleep(seconds(1));
  EXPECT_EQ(deadline.left(clock), Nanos(0));
}

TEST(Clock, SystemClockGoesForward) {
  SystemClock clock;
  Nanos before = clock.now();
  clock.sleep(milliseconds(1));
  EXPECT_GE(clock.now() - before, milliseconds(1));
  clock.sleep(milliseconds(-5));  // returns at once
  EXPECT_GT(clock.unix_ms(), 1'700'000'000'000);
}

TEST(Clock, UtcTextOfDatesBeforeAndAfter1970) {
  EXPECT_EQ(format_utc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_utc(1796065856123), "2026-11-30T19:10:56.123Z");
  EXPECT_EQ(format_utc(951782399999), "2000-02-28T23:59:59.999Z");
  EXPECT_EQ(format_utc(951782400000), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(format_utc(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_utc(-1000), "1969-12-31T23:59:59.000Z");
  EXPECT_FALSE(format_utc(INT64_MAX).empty());
  EXPECT_FALSE(format_utc(INT64_MIN).empty());
}

}  // namespace
}  // namespace benchctl
