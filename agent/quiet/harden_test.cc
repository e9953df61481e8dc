#include "agent/quiet/harden.h"

#include <sys/wait.h>

#include <algorithm>

#include "agent/quiet/fake_systemd.h"

namespace benchctl {
namespace {

class HardeningTest : public testing::Test {
 protected:
  HardeningTest() {
    systemd.unit("cron.service", "active");
    systemd.unit("upgrades.service", "active", "generated");
    systemd.unit("static.service", "inactive", "static", "oneshot");
    systemd.unit("broken.service", "failed", "enabled");
    systemd.unit("a.timer", "active", "enabled", "");
    systemd.unit("b.timer", "active", "static", "");
    systemd.unit("off.timer", "inactive", "masked", "");
    systemd.unit("chrony.service", "active");
    systemd.put("/proc/sys/vm/swappiness", "60\n");
    systemd.put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    systemd.put("/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1024 0 7\n");
    profile.name = "quiet";
    profile.knobs = {{"service", "cron.service", "masked"},
                     {"service", "upgrades.service", "masked"},
                     {"service", "static.service", "masked"},
                     {"service", "broken.service", "masked"},
                     {"service", "nowhere.service", "masked"},
                     {"service", "chrony.service", "stopped"},
                     {"timer", "a.timer", "masked"},
                     {"timer", "b.timer", "masked"},
                     {"timer", "off.timer", "masked"},
                     {"sysctl", "vm.swappiness", "1"},
                     {"sysctl", "vm.nothing", "1"},
                     {"swap", "all", "off"},
                     {"governor", "all", "performance"},
                     {"file", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise"}};
  }

  std::string root() const { return folder.path() + "/m"; }
  Hardening hardening() { return {world, folder.path() + "/m/journal"}; }
  HardenReport apply() {
    auto report = hardening().apply(profile);
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report ? *report : HardenReport();
  }
  QuietProof verify() { return hardening().verify(profile).value().proof; }
  HardenReport undo() { return hardening().undo().value(); }
  static const HardenRow& row(const HardenReport& report, const std::string& target) {
    static const HardenRow kNone;
    for (const HardenRow& one : report.rows)
      if (one.target == target) return one;
    ADD_FAILURE() << "no row " << target;
    return kNone;
  }

  TestFolder folder;
  FakeSystemd systemd{folder.path() + "/m"};
  FakeClock clock;
  QuietWorld world{folder.path() + "/m", systemd, clock};
  HardenProfile profile;
};

TEST_F(HardeningTest, AppliesReadsBackAndPutsBackExactly) {
  const std::string before = systemd.dump();
  HardenReport report = apply();
  EXPECT_TRUE(report.proof.ok) << join(report.proof.problems, "\n");
  const std::pair<const char*, const char*> statuses[] = {
      {"cron.service", "applied"},   {"upgrades.service", "applied"},
      {"static.service", "applied"}, {"broken.service", "applied"},
      {"nowhere.service", "absent"}, {"chrony.service", "applied"},
      {"a.timer", "applied"},        {"b.timer", "applied"},
      {"off.timer", "already"},      {"vm.swappiness", "applied"},
      {"vm.nothing", "not_exposed"}, {"/sys/kernel/mm/transparent_hugepage/enabled", "already"}};
  for (const auto& [target, status] : statuses) EXPECT_EQ(row(report, target).status, status) << target;
  EXPECT_EQ(row(report, "cron.service").found, "enabled, active");
  EXPECT_EQ(row(report, "cron.service").read_back, "masked, inactive");
  EXPECT_EQ(row(report, "broken.service").read_back, "masked, failed");
  EXPECT_EQ(row(report, "chrony.service").read_back, "enabled, inactive");
  EXPECT_EQ(systemd.get("/proc/sys/vm/swappiness"), "1");
  EXPECT_EQ(systemd.get("/proc/swaps").find("/dev/sda2"), std::string::npos);
  EXPECT_TRUE(verify().ok);
  // States are read in few calls: all units at once before, after the links, and at the end.
  EXPECT_LE(std::count_if(systemd.calls.begin(), systemd.calls.end(),
                          [](const std::string& call) { return call.find(" show --property=Id,Load") != call.npos; }),
            6);
  HardenReport undone = undo();
  EXPECT_TRUE(undone.proof.ok) << join(undone.proof.problems, "\n");
  EXPECT_EQ(row(undone, "cron.service").status, "applied");
  systemd.put("/proc/sys/vm/swappiness", systemd.get("/proc/sys/vm/swappiness") + "\n");  // what the kernel adds
  EXPECT_EQ(systemd.dump(), before);
  EXPECT_FALSE(exists(root() + "/journal"));
  EXPECT_EQ(row(undo(), root() + "/journal").status, "absent");
}

TEST_F(HardeningTest, ASecondApplyForgetsNothing) {
  const std::string before = systemd.dump();
  apply();
  systemd.calls.clear();
  HardenReport again = apply();
  // The first may have died before it told systemd of its masks.
  EXPECT_TRUE(systemd.calls.front().ends_with("daemon-reload")) << systemd.calls.front();
  EXPECT_TRUE(again.proof.ok);
  EXPECT_EQ(row(again, "cron.service").found, "enabled, active");
  EXPECT_EQ(row(again, "cron.service").status, "applied");
  EXPECT_EQ(row(again, "vm.swappiness").found, "60");
  undo();
  systemd.put("/proc/sys/vm/swappiness", systemd.get("/proc/sys/vm/swappiness") + "\n");
  EXPECT_EQ(systemd.dump(), before);
}

TEST_F(HardeningTest, WhatAHalfDoneApplyLeftIsNotTakenForWhatWasFound) {
  systemd.refuse_to_stop = "cron.service";
  EXPECT_FALSE(apply().proof.ok);
  systemd.refuse_to_stop.clear();
  EXPECT_EQ(row(apply(), "cron.service").found, "enabled, active");
  EXPECT_TRUE(undo().proof.ok);
  EXPECT_EQ(systemd.get("/units/cron.service"), "active enabled simple\n");
  EXPECT_EQ(systemd.dump().find("/dev/null"), std::string::npos);
}

// The process ends at each of its calls of a tool; once with an undo right away, once after a second apply.
TEST_F(HardeningTest, UndoAfterADeathAtEveryStep) {
  systemd.put("/proc/sys/vm/swappiness", "60");
  const std::string before = systemd.dump();
  int deaths = 0;
  for (int at = 1; at < 100; ++at) {
    for (bool repeat : {false, true}) {
      pid_t child = fork();
      if (child == 0) {
        systemd.calls.clear();
        systemd.die_at = at;
        (void)hardening().apply(profile);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      bool died = WEXITSTATUS(status) == 9;
      deaths += died ? 1 : 0;
      if (repeat) {
        EXPECT_TRUE(apply().proof.ok) << at;
        EXPECT_TRUE(verify().ok) << at;
      }
      HardenReport undone = undo();
      EXPECT_TRUE(undone.proof.ok) << at << ": " << join(undone.proof.problems, "\n");
      ASSERT_EQ(systemd.dump(), before) << at << (repeat ? " repeated" : "");
      if (!died) {
        EXPECT_GT(deaths, 20);
        return;
      }
    }
  }
  FAIL() << "never got to the end";
}

TEST_F(HardeningTest, WhatIsNotReadBackAsAskedIsNeverCalledApplied) {
  systemd.refuse_to_stop = "cron.service";
  ASSERT_EQ(unlink((root() + "/proc/sys/vm/swappiness").c_str()), 0);
  ASSERT_EQ(symlink("/dev/null", (root() + "/proc/sys/vm/swappiness").c_str()), 0);  // takes all, keeps nothing
  HardenReport report = apply();
  EXPECT_EQ(row(report, "cron.service").status, "failed");
  EXPECT_NE(row(report, "cron.service").reason.find("Job failed"), std::string::npos);
  EXPECT_EQ(row(report, "vm.swappiness").status, "failed");
  EXPECT_FALSE(report.proof.ok);
  EXPECT_EQ(report.proof.problems.size(), 2U) << join(report.proof.problems, "\n");
}

TEST_F(HardeningTest, AContainerNeverWritesItsHostsKnobs) {
  systemd.put("/run/systemd/container", "systemd-nspawn\n");
  HardenReport report = apply();
  for (const char* target : {"vm.swappiness", "/sys/kernel/mm/transparent_hugepage/enabled", "all"}) {
    EXPECT_EQ(row(report, target).status, "not_exposed");
    EXPECT_NE(row(report, target).reason.find("container (systemd-nspawn)"), std::string::npos);
  }
  EXPECT_EQ(systemd.get("/proc/sys/vm/swappiness"), "60\n");
  EXPECT_NE(systemd.get("/proc/swaps").find("/dev/sda2"), std::string::npos);
  EXPECT_TRUE(report.proof.ok);
  systemd.put("/run/systemd/container", "");
  systemd.put("/proc/self/uid_map", "         0 1000013824      65536\n");
  EXPECT_EQ(host_knobs_obstacle(world), "this machine has private users: the knob is its host's");
  systemd.put("/proc/self/uid_map", "         0          0 4294967295\n");
  EXPECT_EQ(host_knobs_obstacle(world), "");
}

TEST_F(HardeningTest, UnlistedTimersAreSweptAllowedOnesAreNot) {
  systemd.unit("new.timer", "active", "enabled", "");
  systemd.unit("mine.timer", "active", "enabled", "");
  systemd.unit("once.timer", "active", "transient", "");
  systemd.put("/run/systemd/transient/once.timer", "");
  profile.allow_timers = {"mine.timer"};
  const std::string before = systemd.dump();
  HardenReport report = apply();
  EXPECT_EQ(row(report, "new.timer").status, "applied");
  EXPECT_TRUE(row(report, "new.timer").reason.starts_with("swept"));
  EXPECT_EQ(systemd.active("mine.timer"), "active");
  // A timer made for the moment could not be put back: it is a problem instead.
  EXPECT_EQ(systemd.active("once.timer"), "active");
  ASSERT_EQ(report.proof.problems.size(), 1U) << join(report.proof.problems, "\n");
  EXPECT_TRUE(report.proof.problems[0].starts_with("once.timer has a next run: 2026-12-01T00:00:00.000Z"));
  EXPECT_EQ(hardening().verify(profile)->rows.back().target, "new.timer");
  undo();
  EXPECT_EQ(systemd.active("new.timer"), "active");
}

TEST_F(HardeningTest, TimersThatComeBackAreCaughtWithAndWithoutJson) {
  apply();
  for (const char* answer : {"", "NEXT LEFT LAST PASSED UNIT ACTIVATES\n0 timers listed.\n", "[{\"next\":1}]"}) {
    systemd.list_answer = answer;
    EXPECT_TRUE(verify().ok) << answer;
    ASSERT_EQ(unlink((root() + "/etc/systemd/system/a.timer").c_str()), 0);
    (void)systemd.run({"systemctl", "daemon-reload"}, {}, false);
    systemd.unit("a.timer", "active", "enabled", "");
    systemd.unit("other.timer", "active", "enabled", "");
    QuietProof proof = verify();
    EXPECT_FALSE(proof.ok);
    ASSERT_EQ(proof.problems.size(), 2U) << answer << join(proof.problems, "\n");
    EXPECT_EQ(proof.problems[0], "timer a.timer: is enabled, active, asked for was masked");
    EXPECT_TRUE(proof.problems[1].starts_with("other.timer has a next run: ")) << proof.problems[1];
    systemd.unit("other.timer", "inactive", "enabled", "");
    apply();
  }
}

TEST_F(HardeningTest, CrontabsCountWhenTheyAreNewOrACronRuns) {
  systemd.put("/etc/crontab", "# minute hour\nSHELL=/bin/sh\n17 * * * * root run-parts\n");
  systemd.put("/etc/cron.d/empty", "# nothing\nPATH=/bin\n\n");
  systemd.put("/etc/cron.daily/man-db", "#!/bin/sh\n");
  systemd.put("/etc/cron.daily/.placeholder", "x");
  systemd.put("/etc/cron.deny", "mallory\n");
  auto shown = hardening().show(profile);
  auto would_run = [](const std::string& line) {
    return line.find("would be run: cron.service is active") != line.npos;
  };
  EXPECT_EQ(std::count_if(shown->proof.problems.begin(), shown->proof.problems.end(), would_run), 2);
  EXPECT_TRUE(apply().proof.ok);  // with its daemon masked, what there was is harmless
  systemd.put("/var/spool/cron/crontabs/root", "@reboot /bin/x\n");
  systemd.put("/etc/crontab", "* * * * * root now\n");
  QuietProof proof = verify();
  ASSERT_EQ(proof.problems.size(), 2U) << join(proof.problems, "\n");
  EXPECT_EQ(proof.problems[0], "/etc/crontab was changed after hardening");
  EXPECT_EQ(proof.problems[1], "/var/spool/cron/crontabs/root is a new crontab");
  // A second apply does not make it an old one.
  EXPECT_EQ(apply().proof.problems.size(), 2U);
}

TEST_F(HardeningTest, ACronBesideSystemdCounts) {
  systemd.put("/etc/crontab", "17 * * * * root run-parts\n");
  systemd.put("/proc/77/comm", "crond\n");
  QuietProof proof = apply().proof;
  ASSERT_EQ(proof.problems.size(), 1U);
  EXPECT_EQ(proof.problems[0], "/etc/crontab would be run: process 77 (crond) runs");
  for (auto [process, space] : {std::pair("self", "pid:[1]"), std::pair("77", "pid:[2]")}) {
    std::filesystem::create_directories(root() + "/proc/" + process + "/ns");
    std::filesystem::create_symlink(space, root() + "/proc/" + process + "/ns/pid");
  }
  EXPECT_TRUE(verify().ok);  // a container's
}

TEST_F(HardeningTest, OddAnswersOfSystemctlAreNeverASuccess) {
  for (const char* answer :
       {"\n", "Id=x\n", "Einheit cron.service konnte nicht gefunden werden.\n", "ActiveState=\n"}) {
    systemd.show_answer = answer;
    auto report = hardening().show(profile);
    EXPECT_EQ(row(*report, "cron.service").status, "failed") << answer;
    EXPECT_FALSE(report->proof.ok);
  }
  EXPECT_FALSE(apply().proof.ok);
  EXPECT_EQ(systemd.active("cron.service"), "active");
}

TEST_F(HardeningTest, WithoutSystemdUnitsAreNotExposed) {
  std::filesystem::remove_all(root() + "/run/systemd/system");
  HardenReport report = apply();
  EXPECT_EQ(row(report, "cron.service").status, "not_exposed");
  EXPECT_EQ(row(report, "vm.swappiness").status, "applied");
  EXPECT_TRUE(report.proof.ok);
  EXPECT_TRUE(undo().proof.ok);
}

TEST_F(HardeningTest, UnitsWithAFileOfTheirOwnInEtcAreMaskedToo) {
  systemd.put("/etc/systemd/system/cron.service", "[Service]\n");
  const std::string before = systemd.dump();
  EXPECT_EQ(row(apply(), "cron.service").status, "applied");
  EXPECT_TRUE(exists(root() + "/etc/systemd/system.control/cron.service") ||
              std::filesystem::is_symlink(root() + "/etc/systemd/system.control/cron.service"));
  undo();
  systemd.put("/proc/sys/vm/swappiness", systemd.get("/proc/sys/vm/swappiness") + "\n");
  EXPECT_EQ(systemd.dump(), before);
}

TEST_F(HardeningTest, DisabledTakesTheLinksAndGivesThemBack) {
  const std::string wants = root() + "/etc/systemd/system/multi-user.target.wants";
  std::filesystem::create_directories(wants);
  std::filesystem::create_symlink("/usr/lib/systemd/system/cron.service", wants + "/cron.service");
  profile.knobs = {{"service", "cron.service", "disabled"}};
  const std::string before = systemd.dump();
  EXPECT_EQ(row(apply(), "cron.service").status, "applied");
  EXPECT_FALSE(std::filesystem::is_symlink(wants + "/cron.service"));
  undo();
  systemd.unit("cron.service", "active");
  EXPECT_EQ(systemd.dump().find("cron.service -> /usr/lib/systemd/system/cron.service") != std::string::npos, true);
  EXPECT_EQ(systemd.get("/units/cron.service"), "active enabled simple\n");
}

TEST_F(HardeningTest, VerifyWithoutApplyIsNoProof) {
  QuietProof proof = verify();
  EXPECT_FALSE(proof.ok);
  EXPECT_TRUE(proof.problems[0].starts_with("nothing was applied")) << proof.problems[0];
}

TEST_F(HardeningTest, AnUndoThatFailsKeepsTheJournal) {
  apply();
  ASSERT_EQ(unlink((root() + "/proc/sys/vm/swappiness").c_str()), 0);
  HardenReport undone = undo();
  EXPECT_FALSE(undone.proof.ok);
  EXPECT_TRUE(exists(root() + "/journal"));
  systemd.put("/proc/sys/vm/swappiness", "1");
  EXPECT_TRUE(undo().proof.ok);
  EXPECT_EQ(systemd.get("/proc/sys/vm/swappiness"), "60");
}

}  // namespace
}  // namespace benchctl
