#include "agent/facts/system_text.h"

#include <gtest/gtest.h>

#include "agent/facts/test_tree.h"

namespace benchctl {
namespace {

TEST(SystemText, MeminfoInBytesAndCounts) {
  auto info = parse_meminfo(testdata("meminfo.txt"));
  EXPECT_EQ(info["MemTotal"], int64_t{8039680} * 1024);
  EXPECT_EQ(info["HugePages_Total"], 16);
  EXPECT_EQ(info["Hugepagesize"], 2 << 20);
  EXPECT_TRUE(parse_meminfo("MemTotal: x kB\nMemFree:\nSwap: -3 kB\nBig: 9223372036854775807 kB\nodd").empty());
}

TEST(SystemText, OsReleaseWithoutItsQuotes) {
  auto release = parse_os_release(testdata("os_release_debian.txt"));
  EXPECT_EQ(release["ID"], "debian");
  EXPECT_EQ(release["PRETTY_NAME"], "Debian GNU/Linux 12 (bookworm)");
  auto odd = parse_os_release("# c\n\nA='x y'\nB=\"a\\\"b\\$\"\nC=\"half\nD=\nno equals\n");
  EXPECT_EQ(odd["A"], "x y");
  EXPECT_EQ(odd["B"], "a\"b$");
  EXPECT_EQ(odd["C"], "\"half");
  EXPECT_EQ(odd["D"], "");
  EXPECT_EQ(odd.size(), 4u);
}

TEST(SystemText, ProcessNamesMayHoldAnything) {
  auto stat = parse_proc_stat("42 (a) b (c)) S 1 42 42 0 -1 4194560 100 0 0 0 70 30 0 0 20 0 1 0 5");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->name, "a) b (c)");
  EXPECT_EQ(stat->cpu_ticks, 100);
  for (const char* bad : {"", "42", "42 (x", "42 (x) S 1 2", ")42(", "x (y) S 1 1 1 0 -1 0 0 0 0 0 70 30",
                          "1 (y) S 1 1 1 0 -1 0 0 0 0 0 -70 30", "1 (y) S 1 1 1 0 -1 0 0 0 0 0 9223372036854775807 1"})
    EXPECT_FALSE(parse_proc_stat(bad)) << bad;
}

TEST(SystemText, TheMountOfAPath) {
  auto mounts = parse_mountinfo(testdata("mountinfo_v2.txt"));
  ASSERT_EQ(mounts.size(), 5u);
  EXPECT_EQ(mount_of(mounts, "/var/lib/benchctl/runs")->source, "/dev/loop0");
  EXPECT_EQ(mount_of(mounts, "/var/lib/benchctl")->device, "7:0");
  EXPECT_EQ(mount_of(mounts, "/var/lib/benchctl2")->source, "/dev/vda1");
  EXPECT_EQ(mount_of(mounts, "/srv/with space/x")->filesystem, "tmpfs");
  EXPECT_EQ(mount_of(mounts, "/")->options, "rw,relatime,rw,discard,errors=remount-ro");
  EXPECT_EQ(mount_of({}, "/"), std::nullopt);
  EXPECT_TRUE(parse_mountinfo("odd\n1 2 3 4 5 - a b\n1 2 0:1 / / rw shared:1 -\n").empty());
}

TEST(SystemText, CgroupFoldersOfBothVersionsAndOfAContainer) {
  auto folders = [](const char* mounts, const char* own, const char* controller) {
    auto found = cgroup_folders(parse_mountinfo(testdata(mounts)), testdata(own), controller);
    return std::to_string(found.version) + " " + join(found.folders, " ");
  };
  EXPECT_EQ(folders("mountinfo_v2.txt", "cgroup_v2.txt", "cpu"),
            "2 /sys/fs/cgroup/system.slice/benchctl.service /sys/fs/cgroup/system.slice /sys/fs/cgroup");
  EXPECT_EQ(folders("mountinfo_v1.txt", "cgroup_v1.txt", "memory"),
            "1 /sys/fs/cgroup/memory/bench /sys/fs/cgroup/memory");
  EXPECT_EQ(folders("mountinfo_v1.txt", "cgroup_v1.txt", "cpu"),
            "1 /sys/fs/cgroup/cpu,cpuacct/bench/run /sys/fs/cgroup/cpu,cpuacct/bench /sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(folders("mountinfo_v1_container.txt", "cgroup_v1_container.txt", "memory"), "1 /sys/fs/cgroup/memory");
  EXPECT_EQ(folders("mountinfo_v1.txt", "cgroup_v2.txt", "cpu"),
            "2 /sys/fs/cgroup/unified/system.slice/benchctl.service "
            "/sys/fs/cgroup/unified/system.slice /sys/fs/cgroup/unified");
  EXPECT_EQ(cgroup_folders({}, "0::/\n", "cpu").version, 0);
  EXPECT_EQ(cgroup_folders(parse_mountinfo(testdata("mountinfo_v2.txt")), "0::/../up\n", "cpu").version, 0);
  EXPECT_EQ(cgroup_folders(parse_mountinfo(testdata("mountinfo_v2.txt")), "odd\n", "cpu").version, 0);
}

TEST(SystemText, QuotasAreCpus) {
  EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
  for (const char* none : {"max 100000", "-1 100000", "0 100000", "100000 0", "", "1", "a b"})
    EXPECT_EQ(parse_cpu_max(none), std::nullopt) << none;
}

TEST(SystemText, ListeningSocketsOnly) {
  EXPECT_EQ(parse_proc_net(testdata("net_tcp.txt"), "tcp"),
            (std::vector<Socket>{{"tcp", "127.0.0.1", 8080, 18234}, {"tcp", "0.0.0.0", 22, 15012}}));
  EXPECT_EQ(parse_proc_net(testdata("net_tcp6.txt"), "tcp6"),
            (std::vector<Socket>{{"tcp6", "::", 22, 15014},
                                 {"tcp6", "::1", 631, 15015},
                                 {"tcp6", "fe80:0:0:0:5054:ff:fe1a:e1a6", 53, 15016}}));
  EXPECT_TRUE(parse_proc_net("", "tcp").empty());
  EXPECT_TRUE(parse_proc_net("0: 0100007G:0016 0:0 0A a b c d e 7 9\n0: 01:0016 0 0A 1 2 3 4 5 6\n", "tcp").empty());
}

std::string timers(const std::string& text) {
  auto parsed = parse_timers(text);
  return parsed ? parsed->dump() : "not understood";
}

TEST(SystemText, TimersAsJsonAndAsText) {
  EXPECT_EQ(timers(testdata("timers.json")),
            R"([{"unit":"apt-daily.timer","activates":"apt-daily.service","next":true},)"
            R"({"unit":"fstrim.timer","activates":"fstrim.service","next":false},)"
            R"({"unit":"snapd.snap-repair.timer","activates":"snapd.snap-repair.service","next":false}])");
  EXPECT_EQ(timers(testdata("timers.txt")),
            R"([{"unit":"apt-daily-upgrade.timer","activates":"apt-daily-upgrade.service","next":true},)"
            R"({"unit":"dpkg-db-backup.timer","activates":"dpkg-db-backup.service","next":true},)"
            R"({"unit":"snapd.snap-repair.timer","activates":"snapd.snap-repair.service","next":false},)"
            R"({"unit":"ua-timer.timer","activates":"ua-timer.service","next":false}])");
  EXPECT_EQ(timers("[]"), "[]");
  EXPECT_EQ(timers("0 timers listed.\n"), "[]");
  EXPECT_EQ(timers(""), "not understood");
  EXPECT_EQ(timers("[{"), "not understood");
  EXPECT_EQ(timers("System has not been booted with systemd"), "not understood");
}

TEST(SystemText, RunningUnits) {
  EXPECT_EQ(*parse_units(testdata("units.txt")),
            (std::vector<std::string>{"cron.service", "ssh.service", "systemd-journald.service"}));
  EXPECT_EQ(*parse_units(testdata("units.json")), (std::vector<std::string>{"cron.service", "ssh.service"}));
  EXPECT_EQ(parse_units("[{"), std::nullopt);
  EXPECT_EQ(parse_units("Unknown output 'json'."), std::nullopt);
  EXPECT_TRUE(parse_units("[]")->empty());
}

TEST(SystemText, PageSizeOfAuxv) {
  auto auxv = [](std::vector<uint64_t> words) {
    return std::string(reinterpret_cast<const char*>(words.data()), words.size() * 8);
  };
  EXPECT_EQ(parse_auxv_page_size(auxv({16, 0xff, 6, 65536, 0, 0})), 65536);
  EXPECT_EQ(parse_auxv_page_size(auxv({6, 3})), std::nullopt);
  EXPECT_EQ(parse_auxv_page_size("\x06\0\0"), std::nullopt);
}

}  // namespace
}  // namespace benchctl
