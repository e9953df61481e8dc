#include "agent/facts/collect.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/facts/test_tree.h"
#include "lib/wire/facts.h"

namespace benchctl {
namespace {

// Every null has a reason, every reason a null.
void expect_reasons(const Json& facts) {
  for (const auto& [name, group] : facts.as_object()) {
    if (!group.is_object()) continue;
    for (const auto& [key, value] : group.as_object()) {
      if (key == "why") continue;
      EXPECT_EQ(value.is_null(), !group["why"][key].as_string().empty()) << name << "." << key;
    }
  }
}

TEST(Collect, AnEmptyMachineIsAllNullWithReasons) {
  TestTree tree;
  Json facts = collect_facts({.root = tree.root(), .run_tools = true}, tree.clock);
  expect_reasons(facts);
  EXPECT_TRUE(facts["cpu"]["model_name"].is_null());
  EXPECT_TRUE(facts["cpu"]["cpus_usable"].is_null());
  EXPECT_TRUE(facts["memory"]["total_bytes"].is_null());
  EXPECT_EQ(facts["virt"]["why"]["dmi_vendor"].as_string(), "no DMI");
  EXPECT_EQ(facts["taken_unix_ms"].as_int(), 1'700'000'000'000);
  EXPECT_TRUE(parse_facts(facts.dump()).ok());
}

TEST(Collect, TheMachineThatRunsThisTest) {
  TestFolder folder;
  SystemClock clock;
  Json facts = collect_facts({.workdir = folder.path()}, clock);
  expect_reasons(facts);
  auto parsed = parse_facts(facts.dump());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_FALSE(parsed->text("cpu", "architecture").empty());
  EXPECT_GE(parsed->get("cpu", "threads").as_int(), 1);
  EXPECT_GE(parsed->get("cpu", "cpus_usable").as_int(), 1);
  EXPECT_GT(parsed->get("memory", "total_bytes").as_int(), 0);
  EXPECT_EQ(parsed->get("memory", "page_bytes").as_int(), sysconf(_SC_PAGESIZE));
  EXPECT_FALSE(parsed->text("disk", "filesystem").empty());
  EXPECT_EQ(parsed->get("disk", "fsync_writes").as_int(), 200);
  EXPECT_EQ(parsed->text("kernel", "boot_id").size(), 36u);
  EXPECT_EQ(parsed->text("agent", "sha256").size(), 64u);
  auto again = parse_facts(collect_facts({.workdir = folder.path(), .probe_disk = false}, clock).dump());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(fingerprint(*parsed), fingerprint(*again));
  EXPECT_EQ(diff_facts(*parsed, *again).dump(), "[]");
}

TEST(Collect, SysfsTopologyOf128CpusWithSiblingsAndTwoSockets) {
  TestTree tree;
  tree.write("/sys/devices/system/cpu/online", "0-127\n");
  tree.write("/sys/devices/system/node/online", "0-3\n");
  for (int cpu = 0; cpu < 128; ++cpu) {
    int core = cpu % 64;
    tree.cpu(cpu, "topology/physical_package_id", std::to_string(core / 32));
    tree.cpu(cpu, "topology/core_cpus_list", std::to_string(core) + "," + std::to_string(core + 64));
    tree.cpu(cpu, "cpufreq/scaling_governor", cpu == 5 ? "powersave" : "performance");
    tree.cpu(cpu, "cache/index0/level", "1");
    tree.cpu(cpu, "cache/index0/type", "Data");
    tree.cpu(cpu, "cache/index0/size", "32K");
    tree.cpu(cpu, "cache/index0/shared_cpu_list", std::to_string(core) + "," + std::to_string(core + 64));
  }
  Json cpu = cpu_facts(tree.world());
  EXPECT_EQ(cpu["threads"].as_int(), 128);
  EXPECT_EQ(cpu["cores"].as_int(), 64);
  EXPECT_EQ(cpu["sockets"].as_int(), 2);
  EXPECT_EQ(cpu["numa_nodes"].as_int(), 4);
  EXPECT_EQ(cpu["governor"].as_string(), "performance+powersave");  // one CPU that differs is seen
  EXPECT_EQ(cpu["caches"].dump(), R"({"L1d":{"bytes":32768,"instances":64}})");
}

TEST(Collect, SparseIdsAndOfflineCpusAreCountedAsTheyAre) {
  TestTree tree;
  tree.write("/sys/devices/system/cpu/online", "0,2,4-5,96\n");
  tree.write("/sys/devices/system/cpu/offline", "1,3\n");
  for (int cpu : {0, 2, 4, 5, 96}) {
    tree.cpu(cpu, "topology/physical_package_id", "-1");  // as some virtual machines say
    tree.cpu(cpu, "topology/thread_siblings_list", std::to_string(cpu));
  }
  tree.write("/proc/self/status", "Name:\tx\nCpus_allowed_list:\t2,96\n");
  Json cpu = cpu_facts(tree.world());
  EXPECT_EQ(cpu["online"].as_string(), "0,2,4-5,96");
  EXPECT_EQ(cpu["offline"].as_string(), "1,3");
  EXPECT_EQ(cpu["threads"].as_int(), 5);
  EXPECT_EQ(cpu["cores"].as_int(), 5);
  EXPECT_TRUE(cpu["sockets"].is_null());
  EXPECT_EQ(cpu["affinity"].as_string(), "2,96");
  EXPECT_EQ(cpu["cpus_usable"].as_int(), 2);
}

TEST(Collect, TranslatedLscpuFallsBackToTheKernel) {
  for (const char* name : {"lscpu_german.json", "lscpu_chinese.json"}) {
    TestTree tree;
    tree.tools.answers["lscpu -J"] = testdata(name);
    tree.write("/proc/cpuinfo", testdata("cpuinfo_x86.txt"));
    Json cpu = cpu_facts(tree.world());
    EXPECT_EQ(cpu["model_name"].as_string(), "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz") << name;
    EXPECT_EQ(cpu["family"].as_int(), 6);
    EXPECT_EQ(cpu["threads"].as_int(), 4);
    EXPECT_TRUE(cpu["sockets"].is_null());
    EXPECT_TRUE(cpu["numa_nodes"].is_null());
  }
}

TEST(Collect, LscpuAloneAndWithoutNuma) {
  TestTree tree;
  tree.tools.answers["lscpu -J"] = testdata("lscpu_no_numa.json");
  Json cpu = cpu_facts(tree.world());
  EXPECT_EQ(cpu["architecture"].as_string(), "x86_64");
  EXPECT_EQ(cpu["vendor"].as_string(), "GenuineIntel");
  EXPECT_EQ(cpu["stepping"].as_string(), "7");
  EXPECT_EQ(cpu["flags"].as_strings().size(), 6u);
  EXPECT_EQ(cpu["caches"]["L2"]["bytes"].as_int(), 4 << 20);
  EXPECT_TRUE(cpu["numa_nodes"].is_null());
  EXPECT_EQ(cpu["why"]["numa_nodes"].as_string(), "the kernel has no NUMA");
}

TEST(Collect, Arm64WithoutModelName) {
  TestTree tree;
  tree.write("/proc/cpuinfo", testdata("cpuinfo_arm64.txt"));
  Json cpu = cpu_facts(tree.world());
  EXPECT_TRUE(cpu["model_name"].is_null());
  EXPECT_NE(cpu["why"]["model_name"].as_string().find("not installed"), std::string::npos);
  EXPECT_EQ(cpu["midr"].as_string(), "0x413fd0c1");
  EXPECT_FALSE(cpu["hybrid"].as_bool());
  tree.write("/proc/cpuinfo", testdata("cpuinfo_arm64_big_little.txt"));
  EXPECT_TRUE(cpu_facts(tree.world())["hybrid"].as_bool());
}

TEST(Collect, LimitsOfCgroupVersion2) {
  TestTree tree;
  tree.write("/proc/self/mountinfo", testdata("mountinfo_v2.txt"));
  tree.write("/proc/self/cgroup", testdata("cgroup_v2.txt"));
  tree.write("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
  tree.write("/proc/meminfo", testdata("meminfo.txt"));
  tree.write("/sys/fs/cgroup/system.slice/benchctl.service/cpu.max", "max 100000\n");
  tree.write("/sys/fs/cgroup/system.slice/cpu.max", "250000 100000\n");  // the parent's counts too
  tree.write("/sys/fs/cgroup/system.slice/benchctl.service/memory.max", "1073741824\n");
  tree.write("/sys/fs/cgroup/system.slice/memory.max", "max\n");
  Json cpu = cpu_facts(tree.world()), memory = memory_facts(tree.world());
  EXPECT_EQ(cpu["quota_cpus"].as_double(), 2.5);
  EXPECT_EQ(cpu["cpus_usable"].as_int(), 2);
  EXPECT_EQ(memory["limit_bytes"].as_int(), 1 << 30);
  EXPECT_EQ(memory["total_bytes"].as_int(), int64_t{8039680} * 1024);
}

TEST(Collect, LimitsOfCgroupVersion1) {
  TestTree tree;
  tree.write("/proc/self/mountinfo", testdata("mountinfo_v1.txt"));
  tree.write("/proc/self/cgroup", testdata("cgroup_v1.txt"));
  tree.write("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
  tree.write("/proc/meminfo", testdata("meminfo.txt"));
  const std::string cpu_folder = "/sys/fs/cgroup/cpu,cpuacct/bench/run/";
  tree.write(cpu_folder + "cpu.cfs_quota_us", "50000\n");
  tree.write(cpu_folder + "cpu.cfs_period_us", "100000\n");
  tree.write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  tree.write("/sys/fs/cgroup/memory/bench/memory.limit_in_bytes", "9223372036854771712\n");  // "no limit"
  Json cpu = cpu_facts(tree.world()), memory = memory_facts(tree.world());
  EXPECT_EQ(cpu["quota_cpus"].as_double(), 0.5);
  EXPECT_EQ(cpu["cpus_usable"].as_int(), 1);
  EXPECT_TRUE(memory["limit_bytes"].is_null());
  EXPECT_EQ(memory["why"]["limit_bytes"].as_string(), "no limit is set");
  tree.write("/sys/fs/cgroup/memory/bench/memory.limit_in_bytes", "536870912\n");
  EXPECT_EQ(memory_facts(tree.world())["limit_bytes"].as_int(), 512 << 20);
}

TEST(Collect, PagesOf64KiB) {
  TestTree tree;
  const uint64_t auxv[] = {33, 0x1000, 6, 65536, 0, 0};
  tree.write("/proc/self/auxv", std::string(reinterpret_cast<const char*>(auxv), sizeof auxv));
  tree.write("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  Json memory = memory_facts(tree.world());
  EXPECT_EQ(memory["page_bytes"].as_int(), 65536);
  EXPECT_EQ(memory["thp"].as_string(), "always");
}

TEST(Collect, AnNspawnMachineSaysSoBesideItsHost) {
  TestTree tree;
  tree.write("/run/host/container-manager", "systemd-nspawn\n");
  tree.write("/proc/cpuinfo", testdata("cpuinfo_x86.txt"));
  tree.tools.answers["systemd-detect-virt --vm"] = "kvm\n";
  Json virt = virt_facts(tree.world());
  EXPECT_EQ(virt["kind"].as_string(), "systemd-nspawn");
  EXPECT_EQ(virt["container"].as_string(), "systemd-nspawn");
  EXPECT_EQ(virt["hypervisor"].as_string(), "kvm");
}

TEST(Collect, VirtualisationWithAndWithoutSystemd) {
  TestTree bare;
  bare.tools.answers["systemd-detect-virt --vm"] = "none\n";
  bare.tools.answers["systemd-detect-virt --container"] = "none\n";
  EXPECT_EQ(virt_facts(bare.world())["kind"].as_string(), "none");
  TestTree flag_only;
  flag_only.write("/proc/cpuinfo", testdata("cpuinfo_x86.txt"));
  EXPECT_EQ(virt_facts(flag_only.world())["kind"].as_string(), "unknown");
  flag_only.tools.answers["lscpu -J"] = testdata("lscpu_x86.json");
  EXPECT_EQ(virt_facts(flag_only.world())["kind"].as_string(), "kvm");
  flag_only.write("/sys/class/dmi/id/sys_vendor", "DigitalOcean\n");
  EXPECT_EQ(virt_facts(flag_only.world())["dmi_vendor"].as_string(), "DigitalOcean");
}

TEST(Collect, TheDiskOfTheWorkDirectory) {
  TestTree tree;
  tree.write("/proc/self/mountinfo", testdata("mountinfo_v2.txt"));
  tree.write("/sys/dev/block/7:0/queue/scheduler", "none [mq-deadline]\n");
  tree.write("/sys/dev/block/7:0/queue/rotational", "0\n");
  tree.write("/sys/dev/block/7:0/loop/backing_file", "/images/m1.ext4\n");
  Json disk = disk_facts(tree.world(), "/var/lib/benchctl/runs/r1", true);
  EXPECT_EQ(disk["filesystem"].as_string(), "ext4");
  EXPECT_EQ(disk["mount_point"].as_string(), "/var/lib/benchctl");
  EXPECT_EQ(disk["scheduler"].as_string(), "mq-deadline");
  EXPECT_FALSE(disk["rotational"].as_bool(true));
  EXPECT_EQ(disk["loop_file"].as_string(), "/images/m1.ext4");
  EXPECT_EQ(disk["why"]["fsync_p50_us"].as_string(), "a captured tree has no disk");
  Json memory = disk_facts(tree.world(), "/srv/with space", true);
  EXPECT_EQ(memory["why"]["scheduler"].as_string(), "tmpfs has no block device of its own");
}

TEST(Collect, TimersUnitsSocketsAndBusyProcesses) {
  TestTree tree;
  const std::string timers = "systemctl list-timers --all --no-pager";
  const std::string units = "systemctl list-units --type=service --state=running --no-pager --no-legend --plain";
  tree.tools.answers[timers + " --output=json"] = testdata("timers.json");
  tree.tools.answers[units + " --output=json"] = "Unknown output 'json'.\n[";
  tree.tools.answers[units] = testdata("units.txt");
  tree.write("/proc/net/tcp", testdata("net_tcp.txt"));
  tree.write("/proc/net/tcp6", testdata("net_tcp6.txt"));
  tree.write("/proc/loadavg", "0.10 0.20 0.30 1/99 1234\n");
  tree.write("/proc/uptime", "1605.08 3000.00\n");
  tree.write("/proc/7/stat", "7 (busy\x1b) R 1 7 7 0 -1 0 0 0 0 0 700 300 0 0 20 0 1 0 5");
  tree.write("/proc/8/stat", "8 (idle) S 1 8 8 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5");
  tree.write("/proc/9/stat", "odd");
  tree.write("/etc/cron.d/e2scrub_all", "");
  Json state = state_facts(tree.world());
  EXPECT_EQ(state["timers"].as_array().size(), 3u);
  EXPECT_EQ(state["units"].as_strings().size(), 3u);
  EXPECT_EQ(state["listening"].as_array().size(), 5u);
  EXPECT_EQ(state["load"].dump(), "[0.1,0.2,0.3]");
  EXPECT_EQ(state["uptime_s"].as_double(), 1605.08);
  EXPECT_EQ(state["processes"].as_int(), 2);
  ASSERT_EQ(state["top_cpu"].as_array().size(), 1u);
  EXPECT_EQ(state["top_cpu"].as_array()[0]["name"].as_string(), "busy\\x1b");
  EXPECT_EQ(state["cron"].as_strings(), std::vector<std::string>{"/etc/cron.d/e2scrub_all"});
}

TEST(Collect, WithoutSystemdTimersAreUnknownNotEmpty) {
  TestTree tree;
  Json state = state_facts(tree.world());
  EXPECT_TRUE(state["timers"].is_null());
  EXPECT_EQ(state["why"]["timers"].as_string(), "systemctl: not installed");
}

}  // namespace
}  // namespace benchctl
