#include "lib/failpoint.h"

#include <gtest/gtest.h>

#include <csignal>

namespace benchctl {
namespace {

TEST(KillAtDeathTest, KillsAtTheNamedVisitOnly) {
  auto visits = [](const std::string& spec, int count) {
    KillAt failpoint(spec);
    (void)failpoint.reach("elsewhere").ok();
    for (int i = 0; i < count; ++i) (void)failpoint.reach("done:pull").ok();
  };
  visits("done:pull#3", 2);
  EXPECT_EXIT(visits("done:pull#3", 3), testing::KilledBySignal(SIGKILL), "");
  EXPECT_EXIT(visits("done:pull", 1), testing::KilledBySignal(SIGKILL), "");
  visits("", 5);
}

}  // namespace
}  // namespace benchctl
