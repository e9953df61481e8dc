#include "provisioning/providers/host_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <vector>

#include "lib/text.h"

namespace benchctl {
namespace {

class HostLock : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(make_dirs(folder_).ok()); }
  void TearDown() override { ASSERT_TRUE(remove_tree(folder_).ok()); }
  Result<FileLock> take(const std::string& who, Nanos span, std::function<bool()> stop = {}) {
    auto waits = [this](const std::string& held) { told_.push_back(held); };
    return take_host_turn(who, clock_, Deadline::in(clock_, span), stop, waits, path_);
  }
  std::string folder_ = "/tmp/benchctl-host-lock-" + random_hex(6), path_ = folder_ + "/lock";
  std::vector<std::string> told_;
  SystemClock clock_;
};

TEST_F(HostLock, SecondIsToldWhoHoldsItAndGetsItAfterwards) {
  auto first = take("run a", std::chrono::seconds(1));
  ASSERT_TRUE(first.ok()) << first.error().message;
  struct stat st {};
  ASSERT_EQ(stat(path_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0666U);
  auto second = take("run b", std::chrono::milliseconds(1));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kProvisioning);
  EXPECT_NE(second.error().message.find("run a, pid " + std::to_string(getpid())), std::string::npos)
      << second.error().message;
  { std::optional<FileLock> ended(*std::move(first)); }
  EXPECT_TRUE(take("run b", std::chrono::seconds(1)).ok());
}

TEST_F(HostLock, WaitEndsWhenStopIsAskedFor) {
  auto first = take("run a", std::chrono::seconds(1));
  int asked = 0;
  auto second = take("run b", std::chrono::hours(1), [&] { return ++asked >= 2; });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kInterrupted);
}

TEST_F(HostLock, WhoWaitsIsToldOnceForWhomAndAgainForTheNext) {
  auto first = take("run a", std::chrono::seconds(1));
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(told_.empty());
  int asked = 0;
  auto second = take("run b", std::chrono::hours(1), [&] {
    // As if another one had been faster at the change: the lock stands, and its words are another's.
    if (++asked == 3) std::ofstream(path_, std::ios::trunc) << "run c";
    return asked >= 6;
  });
  ASSERT_FALSE(second.ok());
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[0].find("held by run a, pid "), 0U) << told_[0];
  EXPECT_EQ(told_[1], "held by run c");
}

TEST_F(HostLock, PlantedLinksAreRefused) {
  ASSERT_TRUE(write_atomic(folder_ + "/victim", "precious").ok());
  ASSERT_EQ(symlink((folder_ + "/victim").c_str(), path_.c_str()), 0);
  EXPECT_FALSE(take("run a", std::chrono::milliseconds(1)).ok());
  ASSERT_EQ(unlink(path_.c_str()), 0);
  ASSERT_EQ(link((folder_ + "/victim").c_str(), path_.c_str()), 0);
  EXPECT_FALSE(take("run a", std::chrono::milliseconds(1)).ok());
  EXPECT_EQ(read_file(folder_ + "/victim").value(), "precious");
}

}  // namespace
}  // namespace benchctl
