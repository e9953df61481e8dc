#include "agent/facts/fsync_probe.h"

#include <gtest/gtest.h>

#include "lib/files.h"
#include "lib/test_folder.h"

namespace benchctl {
namespace {

// Each look at the time costs 1 µs more than the last, so that latencies are 1, 3, 5 … µs.
class SteppingClock final : public Clock {
 public:
  Nanos now() override { return now_ += std::chrono::microseconds(++looks_); }
  int64_t unix_ms() override { return 0; }
  void sleep(Nanos) override {}

 private:
  Nanos now_{0};
  int64_t looks_ = 0;
};

TEST(FsyncProbe, CountsWritesAndRanksTheirTimes) {
  TestFolder folder;
  SteppingClock clock;
  auto latency = probe_fsync(folder.path(), 20, std::chrono::hours(1), clock);
  ASSERT_TRUE(latency.ok()) << latency.error().message;
  EXPECT_EQ(latency->writes, 20);
  EXPECT_LT(latency->p50_ns, latency->p99_ns);
  EXPECT_EQ(latency->p99_ns, latency->max_ns);  // the 20th of 20
  EXPECT_TRUE(list_dir(folder.path())->empty());
}

TEST(FsyncProbe, EndsWhenItsTimeIsUp) {
  TestFolder folder;
  SteppingClock clock;
  auto latency = probe_fsync(folder.path(), 1000, std::chrono::microseconds(50), clock);
  ASSERT_TRUE(latency.ok());
  EXPECT_GE(latency->writes, 1);
  EXPECT_LT(latency->writes, 20);
}

TEST(FsyncProbe, AFolderThatCannotBeWrittenIsAnError) {
  SystemClock clock;
  EXPECT_FALSE(probe_fsync("/proc", 3, std::chrono::seconds(1), clock).ok());
  EXPECT_FALSE(probe_fsync("/nonexistent", 3, std::chrono::seconds(1), clock).ok());
}

}  // namespace
}  // namespace benchctl
