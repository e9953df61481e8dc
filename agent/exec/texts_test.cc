// The small parsers and row writers of the agent.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/exec/leftovers.h"
#include "agent/exec/meter.h"
#include "agent/exec/processes.h"
#include "agent/exec/sampler.h"
#include "agent/exec/steal_csv.h"

namespace benchctl {
namespace {

TEST(Texts, PressureIsTheTotalOfTheSomeLine) {
  EXPECT_EQ(parse_psi_some_us("some avg10=0.00 avg60=0.00 avg300=0.00 total=4711\nfull avg10=0 total=9\n"), 4711);
  EXPECT_FALSE(parse_psi_some_us("full avg10=0.00 total=9\n"));
  EXPECT_FALSE(parse_psi_some_us("some avg10=0.00\n"));
  EXPECT_FALSE(parse_psi_some_us(""));
}

TEST(Texts, SystemRowHasEightColumnsWhateverTheKernelGives) {
  EXPECT_EQ(system_row("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 1 1 1\n"), ",1,2,3,4,5,6,7,8");
  EXPECT_EQ(system_row("cpu  1 2 3 4\n"), ",1,2,3,4,,,,");
  EXPECT_EQ(system_row(""), ",,,,,,,,");
}

TEST(Texts, StealRowInTheOrderOfItsHeader) {
  TrialRecord record;
  record.spec.trial = 42;
  record.spec.attempt = 2;
  record.spec.suite = "a,b";
  record.spec.arm = "c";
  record.spec.round = 3;
  record.started_unix_ms = 1'700'000'000'123;
  record.wall_ns = 1'500'000'000;
  record.cpu_total_jiffies = 300;
  record.steal_jiffies = 6;
  record.steal_percent = 2.0;
  record.involuntary_switches = 11;
  EXPECT_EQ(steal_row(record), "42,2,\"a,b\",c,3,2023-11-14T22:13:20.123Z,1.500000,300,6,2.000,,,11,0\n");
}

TEST(Texts, KeyedNumbersAreWholeKeys) {
  EXPECT_EQ(keyed_number("oom 1\noom_kill 3\n", "oom_kill"), 3);
  EXPECT_EQ(keyed_number("oom_kill_disable 0\nunder_oom 0\noom_kill 2", "oom_kill"), 2);
  EXPECT_EQ(keyed_number("x 1\n", "oom_kill", -1), -1);
}

TEST(Texts, SysvRowsAreFoundByOwnerOrCreator) {
  const char* table =
      "       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid\n"
      "         0          5  1600                  4096     1     1      0 60706 60706 60706 60706\n"
      "         0          6  1600                  4096     1     1      0     0     0 60706     0\n"
      "         0          7  1600                  4096     1     1      0  1000  1000  1000  1000\n";
  EXPECT_EQ(sysv_ids(table, 60706), (std::vector<std::string>{"5", "6"}));
  EXPECT_TRUE(sysv_ids(table, 1).empty());
  EXPECT_TRUE(sysv_ids("", 60706).empty());
}

TEST(Texts, DescendantsAreFoundInAnyOrder) {
  std::vector<ProcessInfo> all = {{5, 4}, {4, 3}, {3, 1}, {9, 1}, {1, 0}};
  std::vector<pid_t> pids;
  for (const ProcessInfo& info : descendants(all, 3)) pids.push_back(info.pid);
  EXPECT_EQ(pids, (std::vector<pid_t>{4, 5}));
}

TEST(Texts, OwnProcessIsListedAndAZombieIsNotAlive) {
  pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  bool self = false, zombie = false;
  for (const ProcessInfo& process : list_processes()) {
    self = self || (process.pid == getpid() && process.alive() && process.has_uid(static_cast<int>(getuid())));
    zombie = zombie || (process.pid == child && process.parent == getpid() && !process.alive());
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(self);
  EXPECT_TRUE(zombie);
}

}  // namespace
}  // namespace benchctl
