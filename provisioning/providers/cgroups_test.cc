#include "provisioning/providers/cgroups.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TEST(Cgroups, HierarchiesOfAMixedHostEachOnce) {
  auto found = parse_cgroup_mounts(
      "26 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
      "36 35 0:30 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu\n"
      "37 35 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
      "38 35 0:40 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
      "99 35 0:31 / /other/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
      "torn line\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].path, "/sys/fs/cgroup/cpu");
  EXPECT_FALSE(found[1].v2);
  EXPECT_EQ(found[2].path, "/sys/fs/cgroup/unified");
  EXPECT_TRUE(found[2].v2);
}

TEST(Cgroups, PureV2Host) {
  auto found = parse_cgroup_mounts("30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].v2);
  Cgroups cgroups(found);
  EXPECT_EQ(cgroups.helper_folders("bc-x")[0], "/sys/fs/cgroup/bc-x/helper");
  EXPECT_EQ(cgroups.machine_folders("bc-x")[0], "/sys/fs/cgroup/bc-x/machine");
}

}  // namespace
}  // namespace benchctl
