#include "lib/lock_wait.h"

#include <gtest/gtest.h>

#include <optional>

#include "lib/test_folder.h"

namespace benchctl {
namespace {

TEST(LockWait, EndsWithTheDeadlineAndNamesTheHolder) {
  TestFolder folder;
  FakeClock clock;
  auto first = FileLock::take(folder / "lock", "the first");
  ASSERT_TRUE(first.ok());
  int asked = 0;
  auto second = wait_for_lock(folder / "lock", "the second", clock, Deadline::in(clock, std::chrono::seconds(1)),
                              [&](const Error&) {
                                ++asked;
                                return Status();
                              });
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kInterrupted);
  EXPECT_EQ(second.error().message, "held by the first");
  EXPECT_EQ(asked, 5) << "a second of 200 ms each";
}

TEST(LockWait, IsHadWhenTheHolderGoesAndGivenUpWhenToldTo) {
  TestFolder folder;
  FakeClock clock;
  const std::string path = folder / "lock";
  std::optional<FileLock> first(std::move(*FileLock::take(path, "the first")));
  const Deadline deadline = Deadline::in(clock, std::chrono::hours(1));
  auto told = wait_for_lock(path, "me", clock, deadline, [](const Error&) -> Status {
    return Error{ErrorKind::kUsage, "enough"};
  });
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().message, "enough");
  auto had = wait_for_lock(path, "me", clock, deadline, [&](const Error&) {
    first.reset();
    return Status();
  });
  EXPECT_TRUE(had.ok());
}

}  // namespace
}  // namespace benchctl
