#include "agent/facts/world.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Sysctls that change what a benchmark measures.
constexpr const char* kSysctls[] = {
    "kernel.nmi_watchdog",
    "kernel.perf_event_paranoid",
    "kernel.perf_event_max_sample_rate",
    "kernel.numa_balancing",
    "kernel.sched_autogroup_enabled",
    "kernel.sched_rt_runtime_us",
    "kernel.timer_migration",
    "kernel.kptr_restrict",
    "kernel.pid_max",
    "kernel.core_pattern",
    "vm.swappiness",
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_writeback_centisecs",
    "vm.overcommit_memory",
    "vm.zone_reclaim_mode",
    "vm.max_map_count",
    "vm.compaction_proactiveness",
    "vm.stat_interval",
    "fs.aio-max-nr",
    "fs.file-max",
    "net.core.somaxconn",
};

}  // namespace

Json kernel_facts(const World& world) {
  FactGroup group;
  auto set = [&](const std::string& key, const std::string& path) { group.set(key, world.line(path), "no " + path); };
  set("release", "/proc/sys/kernel/osrelease");
  set("version", "/proc/sys/kernel/version");
  set("cmdline", "/proc/cmdline");
  set("boot_id", "/proc/sys/kernel/random/boot_id");
  const std::string aslr = "/proc/sys/kernel/randomize_va_space";
  group.set("aslr", world.number(aslr), "no " + aslr);
  Json sysctls = Json::object();
  for (std::string name : kSysctls) {
    std::string path = "/proc/sys/" + name;
    for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot)) path[dot] = '/';
    auto value = world.line(path);
    sysctls.set(name, value ? Json(*value) : Json());
  }
  group.set("sysctls", std::move(sysctls));
  return std::move(group).take();
}

}  // namespace benchctl
