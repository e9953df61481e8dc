// A tree of plain files in the place of a hierarchy, as Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of the
// kernel describe them.
#include "agent/exec/cgroup_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/exec/cgroup.h"
#include "agent/facts/test_tree.h"

namespace benchctl {
namespace {

constexpr CgroupLimits kLimits{.memory_bytes = 64 << 20, .max_pids = 100};

class CgroupFiles : public testing::Test {
 protected:
  std::string file(const std::string& name) { return cgroup_text(group_ + "/" + name); }
  void add(const std::string& name, const std::string& content = "") { tree_.write("/g/" + name, content); }

  TestTree tree_;
  std::string group_ = tree_.root() + "/g";
  CgroupPlace v2_{"", "", "cpu,memory,pids", true}, v1_{"", "", "memory", false}, freezer_{"", "", "freezer", false};
};

// A child that sleeps until it is killed.
struct Sleeper {
  pid_t pid = fork();
  Sleeper() {
    if (pid == 0) {
      pause();
      _exit(0);
    }
  }
  int signal_that_ended_it() {
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
};

TEST_F(CgroupFiles, LimitsOfVersion2) {
  for (const char* name : {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max"}) add(name);
  HeldLimits held = limit_cgroup(group_, v2_, kLimits);
  EXPECT_TRUE(held.memory && held.pids);
  EXPECT_EQ(file("memory.max"), "67108864");
  EXPECT_EQ(file("memory.swap.max"), "0");
  EXPECT_EQ(file("memory.oom.group"), "1");
  EXPECT_EQ(file("pids.max"), "100");
}

TEST_F(CgroupFiles, LimitsOfVersion1) {
  for (const char* name : {"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}) add(name);
  EXPECT_TRUE(limit_cgroup(group_, v1_, kLimits).memory);
  EXPECT_EQ(file("memory.limit_in_bytes"), "67108864");
  EXPECT_EQ(file("memory.memsw.limit_in_bytes"), "67108864");
}

TEST_F(CgroupFiles, ALimitThatCouldNotBeSetDoesNotHold) {
  add("memory.swap.max");
  HeldLimits held = limit_cgroup(group_, v2_, kLimits);
  EXPECT_FALSE(held.memory || held.pids);
  add("memory.max", "max\n");
  add("pids.max", "max\n");
  EXPECT_FALSE(limit_cgroup(group_, CgroupPlace{"", "", "cpu", true}, kLimits).memory);
  held = limit_cgroup(group_, v2_, {});
  EXPECT_FALSE(held.memory || held.pids);
  EXPECT_EQ(file("memory.max") + file("pids.max"), "max\nmax\n");  // nothing was asked for
}

TEST_F(CgroupFiles, KillsOfWantOfMemory) {
  add("memory.events", "low 0\nhigh 0\nmax 4711\noom 2\noom_kill 3\noom_group_kill 1\nsock_throttled 0\n");
  add("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(cgroup_oom_kills(group_, v2_), 3);
  EXPECT_EQ(cgroup_oom_kills(group_, v1_), 5);
  EXPECT_EQ(cgroup_oom_kills(group_, CgroupPlace{"", "", "cpu", true}), 0);
}

TEST_F(CgroupFiles, TheKillFileIsEnough) {
  Sleeper sleeper;
  add("cgroup.kill");
  add("cgroup.freeze", "0");
  add("cgroup.procs", std::to_string(sleeper.pid) + "\n");
  kill_cgroup(group_, v2_);
  EXPECT_EQ(file("cgroup.kill"), "1");
  EXPECT_EQ(waitpid(sleeper.pid, nullptr, WNOHANG), 0) << "the kernel does it, not we";
  kill(sleeper.pid, SIGKILL);
  EXPECT_EQ(sleeper.signal_that_ended_it(), SIGKILL);
}

TEST_F(CgroupFiles, BeforeLinux514MembersAreFrozenAndKilled) {
  Sleeper sleeper;
  add("cgroup.freeze", "x");
  add("cgroup.procs", "0\n" + std::to_string(sleeper.pid) + "\n");  // 0: a process of another namespace
  kill_cgroup(group_, v2_);
  EXPECT_EQ(sleeper.signal_that_ended_it(), SIGKILL);
  EXPECT_EQ(file("cgroup.freeze"), "0");
}

TEST_F(CgroupFiles, TheFreezerOfVersion1IsThawed) {
  Sleeper sleeper;
  add("freezer.state");
  add("cgroup.procs", std::to_string(sleeper.pid) + "\n");
  kill_cgroup(group_, freezer_);
  EXPECT_EQ(sleeper.signal_that_ended_it(), SIGKILL);
  EXPECT_EQ(file("freezer.state"), "THAWED");
}

TEST_F(CgroupFiles, ControllersAreWholeWords) {
  EXPECT_TRUE(v2_.has("pids"));
  EXPECT_FALSE((CgroupPlace{"", "", "cpuset,memory", true}).has("cpu"));
  EXPECT_EQ(enable_controllers(group_), "");  // no such file
}

TEST_F(CgroupFiles, ControllersAreAskedForOneByOne) {
  add("cgroup.subtree_control", "cpu io memory pids cpuset hugetlb\n");
  std::string enabled = enable_controllers(group_);
  // Plain files keep what was written over their beginning: "+memory", then "+pids".
  EXPECT_EQ(enabled, "+pidsrymemory,pids,cpuset,hugetlb");
}

// What the machine that runs this test really has: on hosts of version 1 a hierarchy of version 2 without controllers.
TEST(CgroupReal, AGroupOfVersion2HoldsEndsAndCounts) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  CgroupHost host = CgroupHost::detect();
  bool v2 = false;
  for (const CgroupPlace& place : host.places()) v2 = v2 || place.v2;
  if (!v2) GTEST_SKIP() << "no cgroup2 hierarchy here in which groups can be made";
  std::string name = "benchctl-unit-" + std::to_string(getpid());
  TrialCgroup group(host, name, {});
  ASSERT_TRUE(group.exists());
  EXPECT_NE(group.description().find("v2"), std::string::npos);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    for (const UniqueFd& fd : group.join_fds())
      if (write(fd.get(), "0", 1) != 1) _exit(1);
    // An escape from every process tree: sessions of their own, parents gone.
    for (int i = 0; i < 5; ++i) {
      if (fork() != 0) continue;
      setsid();
      if (fork() != 0) _exit(0);
      ssize_t ignored = write(ready[1], "x", 1);
      (void)ignored;
      pause();
      _exit(0);
    }
    pause();
    _exit(0);
  }
  char byte = 0;
  for (int i = 0; i < 5; ++i) ASSERT_EQ(read(ready[0], &byte, 1), 1);
  for (int i = 0; i < 500 && group.members().size() != 6; ++i) usleep(10'000);  // those between go first
  EXPECT_EQ(group.members().size(), 6u);
  group.kill();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  for (int i = 0; i < 500 && !group.members().empty(); ++i) usleep(10'000);
  EXPECT_TRUE(group.members().empty());
  EXPECT_EQ(group.oom_kills(), 0);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace benchctl
