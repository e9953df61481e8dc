#include "agent/exec/cgroup.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace benchctl {
namespace {

const CgroupPlace* place(const std::vector<CgroupPlace>& places, const std::string& controllers, bool v2 = false) {
  auto found = std::find_if(places.begin(), places.end(),
                            [&](const CgroupPlace& one) { return one.controllers == controllers && one.v2 == v2; });
  return found == places.end() ? nullptr : &*found;
}

TEST(Cgroup, VersionOneAndTheUnifiedPartOfAHybridHost) {
  auto places = cgroup_places(
      "30 24 0:26 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
      "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 24 0:28 / /sys/fs/cgroup/systemd rw shared:5 - cgroup cgroup rw,xattr,name=systemd\n"
      "33 24 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
      "34 24 0:30 / /sys rw - sysfs sysfs rw\n",
      "5:freezer:/a/b\n4:cpu,cpuacct:/\n1:name=systemd:/user.slice\n0::/user.slice/x\n");
  ASSERT_EQ(places.size(), 4u);
  ASSERT_NE(place(places, "freezer"), nullptr);
  EXPECT_EQ(place(places, "freezer")->folder, "/sys/fs/cgroup/freezer/a/b");
  EXPECT_EQ(place(places, "cpu,cpuacct")->folder, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(place(places, "name=systemd")->folder, "/sys/fs/cgroup/systemd/user.slice");
  ASSERT_NE(place(places, "", true), nullptr);
  EXPECT_EQ(place(places, "", true)->folder, "/sys/fs/cgroup/unified/user.slice/x");
}

TEST(Cgroup, AMountThatShowsAPartOfTheHierarchy) {
  auto places = cgroup_places("30 24 0:26 /bc-m1 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
                              "8:pids:/bc-m1/system.slice\n");
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].folder, "/sys/fs/cgroup/pids/system.slice");
}

TEST(Cgroup, ANeighbourWhoseNameBeginsAlikeIsNotBelowUs) {
  auto places =
      cgroup_places("30 24 0:26 /bc-m1 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n", "8:pids:/bc-m10/x\n");
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].folder, "/sys/fs/cgroup/pids");
}

TEST(Cgroup, APathOutsideOfTheNamespaceFallsBackToTheMount) {
  auto places = cgroup_places("30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "0::/../other\n");
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].folder, "/sys/fs/cgroup");
}

TEST(Cgroup, NothingOfOddText) {
  EXPECT_TRUE(cgroup_places("", "").empty());
  EXPECT_TRUE(cgroup_places("x\n1 2 3\n - cgroup\n", "::\nnonsense\n").empty());
  EXPECT_TRUE(cgroup_places("30 24 0:26 / /c rw - cgroup cgroup rw,pids\n", "7:memory:/\n").empty());
}

}  // namespace
}  // namespace benchctl
