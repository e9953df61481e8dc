// Whole machines as trees of files and answers of tools: what the agent recognises of each. A fact is the value that is
// written here or null with a reason; collecting never fails, whatever the machine says.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "agent/facts/test_tree.h"
#include "lib/wire/facts.h"

namespace benchctl {
namespace {

// "cpu.threads" -> its value as text (JSON for what is no string), or "null: a part of the reason".
using Expected = std::vector<std::pair<std::string, std::string>>;

struct Machine {
  std::string name;
  std::function<void(TestTree&)> build;
  Expected expected;
};
void PrintTo(const Machine& machine, std::ostream* out) {
  *out << machine.name;
}

const std::string kCpu = "/sys/devices/system/cpu/";

void cpus(TestTree& tree, const std::string& online, const std::vector<int>& ids, int threads_per_core = 1) {
  tree.write(kCpu + "online", online + "\n");
  for (size_t i = 0; i < ids.size(); ++i) {
    size_t first = i - i % static_cast<size_t>(threads_per_core);
    std::string siblings;
    for (size_t j = first; j < first + static_cast<size_t>(threads_per_core) && j < ids.size(); ++j)
      siblings += (siblings.empty() ? "" : ",") + std::to_string(ids[j]);
    tree.cpu(ids[i], "topology/physical_package_id", "0");
    tree.cpu(ids[i], "topology/core_cpus_list", siblings);
  }
}

std::vector<int> up_to(int count) {
  std::vector<int> ids;
  for (int id = 0; id < count; ++id) ids.push_back(id);
  return ids;
}

// What nearly every Linux has.
void common(TestTree& tree) {
  tree.write("/proc/meminfo", testdata("meminfo.txt"));
  tree.write("/proc/self/status", "Name:\tbenchagent\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
  tree.write("/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  tree.write("/proc/sys/kernel/random/boot_id", "1b4e28ba-2fa1-11d2-883f-0016d3cca427\n");
  tree.write("/etc/os-release", testdata("os_release_debian.txt"));
  tree.write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
}

void x86(TestTree& tree) {
  common(tree);
  tree.write("/proc/cpuinfo", testdata("cpuinfo_x86.txt"));
  tree.tools.answers["lscpu -J"] = testdata("lscpu_x86.json");
  cpus(tree, "0-3", up_to(4), 2);
}

void arm64(TestTree& tree, const std::string& cpuinfo, int count) {
  common(tree);
  tree.write("/proc/cpuinfo", testdata(cpuinfo));
  cpus(tree, "0-" + std::to_string(count - 1), up_to(count));
}

std::string auxv(uint64_t page_bytes) {
  const uint64_t words[] = {33, 0x1000, 6, page_bytes, 0, 0};
  return std::string(reinterpret_cast<const char*>(words), sizeof words);
}

const std::string kXeon = "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz";

const std::vector<Machine> kMachines = {
    {"server",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers["systemd-detect-virt --vm"] = "kvm\n";
       tree.tools.answers["systemd-detect-virt --container"] = "none\n";
       tree.write("/sys/class/dmi/id/sys_vendor", "QEMU\n");
       tree.cpu(0, "cpufreq/scaling_governor", "performance");
     },
     {{"cpu.model_name", kXeon},
      {"cpu.vendor", "GenuineIntel"},
      {"cpu.family", "6"},
      {"cpu.threads", "4"},
      {"cpu.cores", "2"},
      {"cpu.sockets", "1"},
      {"cpu.governor", "performance"},
      {"virt.kind", "kvm"},
      {"virt.container", "none"},
      {"virt.dmi_vendor", "QEMU"},
      {"os.id", "debian"},
      {"memory.total_bytes", "8232632320"},
      {"virt.clocksource", "tsc"}}},
    {"lscpu_german",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers["lscpu -J"] = testdata("lscpu_german.json");
     },
     {{"cpu.model_name", kXeon},
      {"cpu.threads", "4"},
      {"cpu.cores", "2"},
      {"cpu.sockets", "1"},
      {"cpu.numa_nodes", "null: the kernel has no NUMA"},
      {"cpu.architecture", "null: neither uname nor lscpu"}}},
    {"lscpu_chinese",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers["lscpu -J"] = testdata("lscpu_chinese.json");
     },
     {{"cpu.model_name", kXeon}, {"cpu.stepping", "7"}, {"cpu.cores", "2"}, {"cpu.caches", "null: neither sysfs"}}},
    {"lscpu_german_and_nothing_else",
     [](TestTree& tree) { tree.tools.answers["lscpu -J"] = testdata("lscpu_german.json"); },
     {{"cpu.model_name", "null: lscpu does not say it"},
      {"cpu.threads", "4"},
      {"cpu.sockets", "null: neither sysfs nor lscpu"},
      {"virt.kind", "null: neither a container nor a hypervisor"}}},
    {"socket_is_a_dash",
     [](TestTree& tree) {
       arm64(tree, "cpuinfo_arm64.txt", 4);
       for (int cpu = 0; cpu < 4; ++cpu) tree.cpu(cpu, "topology/physical_package_id", "-1");
       tree.tools.answers["lscpu -J"] = testdata("lscpu_socket_dash.json");
     },
     {{"cpu.sockets", "null: neither sysfs nor lscpu"},
      {"cpu.cores", "4"},
      {"cpu.threads", "4"},
      {"cpu.model_name", "Cortex-A53"},
      {"cpu.midr", "0x413fd0c1"}}},
    {"cores_per_cluster_without_sysfs",
     [](TestTree& tree) {
       common(tree);
       tree.tools.answers["lscpu -J"] = testdata("lscpu_per_cluster.json");
     },
     {{"cpu.cores", "6"},
      {"cpu.threads", "6"},
      {"cpu.sockets", "null: neither sysfs"},
      {"cpu.online", "0-5"},
      {"cpu.architecture", "aarch64"}}},
    {"no_numa_line",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers["lscpu -J"] = testdata("lscpu_no_numa.json");
     },
     {{"cpu.numa_nodes", "null: the kernel has no NUMA"}, {"cpu.cores", "2"}, {"cpu.model_name", kXeon}}},
    {"no_lscpu",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers.clear();
     },
     {{"cpu.model_name", kXeon},
      {"cpu.flags", R"(["fpu","vme","sse","sse2","avx2","sha_ni","hypervisor"])"},
      {"cpu.cores", "2"},
      {"cpu.architecture", "null: neither uname nor lscpu"},
      {"virt.kind", "unknown"},
      {"disk.devices", "null: lsblk: not installed"}}},
    {"lscpu_too_old_for_json",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers["lscpu -J"] = "Usage:\n lscpu [options]\n";
       tree.write("/proc/cpuinfo", "");
     },
     {{"cpu.model_name", "null: lscpu: "}, {"cpu.flags", "null: lscpu: "}, {"cpu.threads", "4"}}},
    {"arm64_without_model_name",
     [](TestTree& tree) { arm64(tree, "cpuinfo_arm64.txt", 4); },
     {{"cpu.model_name", "null: lscpu: not installed, and /proc/cpuinfo"},
      {"cpu.vendor", "null: lscpu"},
      {"cpu.midr", "0x413fd0c1"},
      {"cpu.threads", "4"},
      {"cpu.hybrid", "false"},
      {"cpu.microcode", "null: neither /proc/cpuinfo nor sysfs"}}},
    {"arm64_whose_lscpu_says_dashes",
     [](TestTree& tree) {
       arm64(tree, "cpuinfo_arm64.txt", 4);
       tree.tools.answers["lscpu -J"] =
           R"({"lscpu":[{"field":"Architecture:","data":"aarch64"},{"field":"Vendor ID:","data":"ARM"},
               {"field":"Model name:","data":"-"},{"field":"Stepping:","data":"-"}]})";
     },
     {{"cpu.model_name", "null: lscpu does not say it"},
      {"cpu.stepping", "null: lscpu does not say it"},
      {"cpu.vendor", "ARM"},
      {"cpu.architecture", "aarch64"}}},
    {"arm64_big_little",
     [](TestTree& tree) { arm64(tree, "cpuinfo_arm64_big_little.txt", 6); },
     {{"cpu.midr", "0x410fd034+0x410fd092"}, {"cpu.hybrid", "true"}, {"cpu.threads", "6"}}},
    {"cpus_128",
     [](TestTree& tree) {
       common(tree);
       cpus(tree, "0-127", up_to(128), 2);
       for (int cpu = 64; cpu < 128; ++cpu) tree.cpu(cpu, "topology/physical_package_id", "1");
       tree.write("/sys/devices/system/node/online", "0-7\n");
       tree.write("/proc/self/status", "Cpus_allowed_list:\t0-127\n");
       std::string text;
       for (int cpu = 0; cpu < 128; ++cpu)
         text += "processor\t: " + std::to_string(cpu) + "\nmodel name\t: AMD EPYC 7763\nflags\t\t: fpu avx2\n\n";
       tree.write("/proc/cpuinfo", text);
     },
     {{"cpu.threads", "128"},
      {"cpu.cores", "64"},
      {"cpu.sockets", "2"},
      {"cpu.numa_nodes", "8"},
      {"cpu.cpus_usable", "128"},
      {"cpu.affinity", "0-127"},
      {"cpu.model_name", "AMD EPYC 7763"}}},
    {"sparse_cpu_ids",
     [](TestTree& tree) {
       common(tree);
       cpus(tree, "0,2,4,96,1500", {0, 2, 4, 96, 1500});
       tree.write("/proc/self/status", "Cpus_allowed_list:\t2,96,1500\n");
     },
     {{"cpu.online", "0,2,4,96,1500"},
      {"cpu.threads", "5"},
      {"cpu.cores", "5"},
      {"cpu.affinity", "2,96,1500"},
      {"cpu.cpus_usable", "3"}}},
    {"offline_cpus",
     [](TestTree& tree) {
       x86(tree);
       cpus(tree, "0,2", {0, 2});
       tree.write(kCpu + "offline", "1,3\n");
       tree.write(kCpu + "smt/active", "0\n");
       tree.write(kCpu + "smt/control", "off\n");
       tree.write("/proc/self/status", "Cpus_allowed_list:\t0,2\n");
     },
     {{"cpu.threads", "2"},
      {"cpu.offline", "1,3"},
      {"cpu.smt_active", "false"},
      {"cpu.smt_control", "off"},
      {"cpu.cpus_usable", "2"}}},
    {"no_systemd",
     [](TestTree& tree) {
       x86(tree);
       tree.write("/etc/os-release", "ID=alpine\nVERSION_ID=3.20.1\nPRETTY_NAME=\"Alpine Linux v3.20\"\n");
     },
     {{"state.timers", "null: systemctl: not installed"},
      {"state.units", "null: systemctl: not installed"},
      {"virt.container", "null: no systemd-detect-virt"},
      {"virt.kind", "kvm"},
      {"os.id", "alpine"},
      {"os.packages", "null: neither dpkg-query nor rpm"},
      {"os.libc", "null: getconf: not installed"}}},
    {"systemd_that_is_not_running",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers["systemctl list-timers --all --no-pager --output=json"] =
           "System has not been booted with systemd as init system (PID 1). Can't operate.\n";
     },
     {{"state.timers", "null: systemctl: answer not understood"}, {"state.units", "null: systemctl: not installed"}}},
    {"no_dmi",
     [](TestTree& tree) { x86(tree); },
     {{"virt.dmi_vendor", "null: no DMI"}, {"virt.dmi_product", "null: no DMI"}}},
    {"cgroup_v1_with_quota",
     [](TestTree& tree) {
       x86(tree);
       tree.write("/proc/self/mountinfo", testdata("mountinfo_v1.txt"));
       tree.write("/proc/self/cgroup", testdata("cgroup_v1.txt"));
       tree.write("/sys/fs/cgroup/cpu,cpuacct/bench/cpu.cfs_quota_us", "150000\n");
       tree.write("/sys/fs/cgroup/cpu,cpuacct/bench/cpu.cfs_period_us", "100000\n");
       tree.write("/sys/fs/cgroup/memory/bench/memory.limit_in_bytes", "1073741824\n");
     },
     {{"cpu.quota_cpus", "1.5"}, {"cpu.cpus_usable", "1"}, {"memory.limit_bytes", "1073741824"}}},
    {"cgroup_v2_with_cpu_max",
     [](TestTree& tree) {
       x86(tree);
       tree.write("/proc/self/mountinfo", testdata("mountinfo_v2.txt"));
       tree.write("/proc/self/cgroup", testdata("cgroup_v2.txt"));
       tree.write("/sys/fs/cgroup/system.slice/benchctl.service/cpu.max", "250000 100000\n");
       tree.write("/sys/fs/cgroup/system.slice/benchctl.service/cpuset.cpus.effective", "0-3\n");
       tree.write("/sys/fs/cgroup/system.slice/benchctl.service/memory.max", "max\n");
     },
     {{"cpu.quota_cpus", "2.5"}, {"cpu.cpus_usable", "2"}, {"memory.limit_bytes", "null: no limit is set"}}},
    {"no_cgroups",
     [](TestTree& tree) { x86(tree); },
     {{"cpu.quota_cpus", "null: no cgroup of the cpu controller"}, {"memory.limit_bytes", "null: no cgroup"}}},
    {"empty_files",
     [](TestTree& tree) {
       for (const char* path :
            {"/proc/cpuinfo", "/proc/meminfo", "/proc/self/status", "/proc/self/mountinfo", "/proc/self/cgroup",
             "/proc/self/auxv", "/proc/cmdline", "/proc/uptime", "/proc/loadavg", "/proc/net/tcp", "/etc/os-release",
             "/proc/sys/kernel/osrelease", "/sys/devices/system/cpu/online", "/sys/devices/system/node/online",
             "/sys/class/dmi/id/sys_vendor", "/sys/kernel/mm/transparent_hugepage/enabled"})
         tree.write(path, "");
       tree.tools.answers["lscpu -J"] = "";
       tree.tools.answers["systemd-detect-virt --vm"] = "";
       tree.tools.answers["lsblk -J -b -o NAME,TYPE,SIZE,ROTA,SCHED,MODEL"] = "";
       tree.tools.answers["getconf GNU_LIBC_VERSION"] = "\n";
     },
     {{"cpu.threads", "null: no source"},
      {"cpu.online", "null: neither"},
      {"memory.total_bytes", "null: /proc/meminfo"},
      {"memory.page_bytes", "null: /proc/self/auxv"},
      {"memory.thp", "null: the kernel has no"},
      {"kernel.release", "null: no /proc"},
      {"kernel.cmdline", "null: no /proc/cmdline"},
      {"os.id", "null: os-release"},
      {"os.libc", "null: getconf: no version"},
      {"state.uptime_s", "null: no /proc/uptime"},
      {"state.load", "null: no /proc/loadavg"},
      {"disk.devices", "null: lsblk"},
      {"virt.dmi_vendor", "null: no DMI"}}},
    {"binary_files",
     [](TestTree& tree) {
       constexpr char kJunk[] =
           "\x7f"
           "ELF\x00\xff\xfe\x80\xc3\x28 model name\t: \xf0\x28\x8c\x28\x1b[31m\n\x00:\x01\n";
       const std::string junk(kJunk, sizeof kJunk - 1);
       for (const char* path :
            {"/proc/cpuinfo", "/proc/meminfo", "/proc/self/status", "/proc/self/mountinfo", "/proc/self/cgroup",
             "/proc/self/auxv", "/proc/uptime", "/proc/loadavg", "/proc/net/tcp", "/etc/os-release",
             "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/offline", "/sys/devices/system/node/online",
             "/sys/devices/system/cpu/smt/control", "/proc/7/stat", "/proc/cmdline"})
         tree.write(path, junk);
       tree.write("/sys/class/dmi/id/sys_vendor",
                  "Evil\x1b[2J\xff\xe2\x80\xae"
                  "Corp\n");
       tree.write("/proc/sys/kernel/hostname", "a\rb\x80\n");
       tree.write("/etc/os-release", "ID=\"\x1b]0;x\x07\xfe\"\nVERSION_ID=\xff\n");
       tree.tools.answers["lscpu -J"] = junk;
       tree.tools.answers["systemd-detect-virt --vm"] = junk;
       tree.tools.answers["getconf GNU_LIBC_VERSION"] = junk;
       tree.tools.answers["systemctl list-timers --all --no-pager --output=json"] = junk;
     },
     {{"cpu.threads", "null: no source"},
      {"cpu.online", "null: neither"},
      {"memory.total_bytes", "null: /proc/meminfo"},
      {"state.timers", "null: systemctl: answer not understood"},
      {"virt.kind", "null: neither"}}},
    {"huge_files",
     [](TestTree& tree) {
       common(tree);
       std::string huge(5 << 20, 'x');
       for (const char* path : {"/proc/cpuinfo", "/proc/meminfo", "/proc/self/mountinfo", "/etc/os-release",
                                "/sys/devices/system/cpu/online", "/proc/cmdline", "/sys/class/dmi/id/sys_vendor"})
         tree.write(path, huge);
     },
     {{"cpu.threads", "null: no source"},
      {"memory.total_bytes", "null: /proc/meminfo"},
      {"virt.dmi_vendor", "null: "},
      {"kernel.cmdline", "null: "},
      {"os.id", "null: os-release"},
      {"virt.clocksource", "tsc"}}},
    {"no_cpufreq",
     [](TestTree& tree) { x86(tree); },
     {{"cpu.governor", "null: no cpufreq"},
      {"cpu.max_khz", "null: no cpufreq"},
      {"cpu.no_turbo", "null: no intel_pstate"},
      {"cpu.boost", "null: no "},
      {"cpu.cpuidle_driver", "null: no cpuidle"}}},
    {"pages_of_64_kib",
     [](TestTree& tree) {
       arm64(tree, "cpuinfo_arm64.txt", 4);
       tree.write("/proc/self/auxv", auxv(65536));
     },
     {{"memory.page_bytes", "65536"}, {"memory.thp", "null: the kernel has no"}}},
    {"nspawn_container",
     [](TestTree& tree) {
       x86(tree);
       tree.write("/run/host/container-manager", "systemd-nspawn\n");
       tree.tools.answers["systemd-detect-virt --vm"] = "kvm\n";
     },
     {{"virt.kind", "systemd-nspawn"}, {"virt.container", "systemd-nspawn"}, {"virt.hypervisor", "kvm"}}},
    {"lxc_container",
     [](TestTree& tree) {
       x86(tree);
       tree.tools.answers["systemd-detect-virt --container"] = "lxc\n";
       tree.tools.answers["systemd-detect-virt --vm"] = "none\n";
     },
     {{"virt.kind", "lxc"}, {"virt.container", "lxc"}, {"virt.hypervisor", "kvm"}}},
    {"lxc_container_without_systemd",
     [](TestTree& tree) {
       x86(tree);
       tree.write("/proc/1/environ", std::string("PATH=/bin\0container=lxc\0TERM=x\0", 31));
     },
     {{"virt.kind", "lxc"}, {"virt.container", "lxc"}}},
    {"docker_container",
     [](TestTree& tree) {
       x86(tree);
       tree.write("/.dockerenv", "");
       tree.write("/proc/self/mountinfo", testdata("mountinfo_v1_container.txt"));
       tree.write("/proc/self/cgroup", testdata("cgroup_v1_container.txt"));
       tree.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
     },
     {{"virt.kind", "docker"}, {"memory.limit_bytes", "536870912"}, {"disk.devices", "null: lsblk"}}},
    {"memory_of_512_mib",
     [](TestTree& tree) {
       x86(tree);
       tree.write("/proc/meminfo",
                  "MemTotal:         475204 kB\nMemFree:           31204 kB\nSwapTotal:             0 kB\n");
       tree.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
     },
     {{"memory.total_bytes", "486608896"},
      {"memory.available_bytes", "null: /proc/meminfo has no MemAvailable"},
      {"memory.swap_bytes", "0"},
      {"memory.hugepages", "null: /proc/meminfo"},
      {"memory.thp", "madvise"}}},
};

std::string shown(const Json& value) {
  return value.is_string() ? value.as_string() : value.dump();
}

class MachinesTest : public testing::TestWithParam<Machine> {};

TEST_P(MachinesTest, IsRecognised) {
  const Machine& machine = GetParam();
  TestTree tree;
  machine.build(tree);
  Json facts = collect_facts(tree.world(), FactsOptions{});
  for (const auto& [name, group] : facts.as_object()) {
    if (!group.is_object()) continue;
    for (const auto& [key, value] : group.as_object()) {
      if (key == "why") continue;
      EXPECT_EQ(value.is_null(), !group["why"][key].as_string().empty()) << name << "." << key;
    }
  }
  for (const auto& [fact, wanted] : machine.expected) {
    size_t dot = fact.find('.');
    const Json& group = facts[fact.substr(0, dot)];
    std::string key = fact.substr(dot + 1), found = shown(group[key]);
    if (group[key].is_null()) found = "null: " + group["why"][key].as_string();
    if (wanted.starts_with("null: ")) {
      EXPECT_NE(found.find(wanted), std::string::npos) << fact << " is " << found << ", wanted " << wanted;
    } else {
      EXPECT_EQ(found, wanted) << fact;
    }
  }
  // What goes over the wire is text that can be read back and printed.
  std::string document = facts.dump();
  auto parsed = parse_facts(document);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(fingerprint(*parsed).size(), 64u);
  EXPECT_LT(document.size(), 256u << 10);
  std::printf("%-32s cpu %s (%s threads, %s cores), %s, %s bytes, %s\n", machine.name.c_str(),
              shown(facts["cpu"]["model_name"]).c_str(), shown(facts["cpu"]["threads"]).c_str(),
              shown(facts["cpu"]["cores"]).c_str(), shown(facts["virt"]["kind"]).c_str(),
              shown(facts["memory"]["total_bytes"]).c_str(), shown(facts["os"]["pretty_name"]).c_str());
}

INSTANTIATE_TEST_SUITE_P(All, MachinesTest, testing::ValuesIn(kMachines),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace benchctl
