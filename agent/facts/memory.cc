#include "agent/facts/cpu_text.h"
#include "agent/facts/system_text.h"
#include "agent/facts/world.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// The smallest limit of the own cgroup and those above it; /proc/meminfo shows the host's memory in a container.
void set_limit(FactGroup& group, const World& world, std::optional<int64_t> total) {
  auto mounts = world.read("/proc/self/mountinfo"), own = world.read("/proc/self/cgroup");
  auto cgroup = mounts && own ? cgroup_folders(parse_mountinfo(*mounts), *own, "memory") : CgroupFolders{};
  std::optional<int64_t> limit;
  for (const std::string& folder : cgroup.folders) {
    auto bytes = world.number(folder + (cgroup.version == 2 ? "/memory.max" : "/memory.limit_in_bytes"));
    // Version 1 says "no limit" as a huge number.
    if (bytes && *bytes > 0 && *bytes < int64_t{1} << 60 && (!limit || *bytes < *limit)) limit = bytes;
  }
  if (limit && total && *limit >= *total) limit = std::nullopt;
  group.set("limit_bytes", limit, cgroup.version == 0 ? "no cgroup of the memory controller" : "no limit is set");
}

}  // namespace

Json memory_facts(const World& world) {
  FactGroup group;
  auto text = world.read("/proc/meminfo");
  auto info = text ? parse_meminfo(*text) : std::map<std::string, int64_t>{};
  auto entry = [&](const std::string& name) {
    auto found = info.find(name);
    return found != info.end() ? std::optional(found->second) : std::nullopt;
  };
  auto set = [&](const std::string& key, const std::string& name) {
    group.set(key, entry(name), "/proc/meminfo has no " + name);
  };
  set("total_bytes", "MemTotal");
  set("available_bytes", "MemAvailable");
  set("swap_bytes", "SwapTotal");
  set("hugepages", "HugePages_Total");
  set("hugepage_bytes", "Hugepagesize");
  set_limit(group, world, entry("MemTotal"));
  const std::string thp = "/sys/kernel/mm/transparent_hugepage/";
  auto choice = [&](const std::string& file) {
    auto line = world.line(thp + file);
    return line ? parse_bracketed(*line) : std::nullopt;
  };
  group.set("thp", choice("enabled"), "the kernel has no transparent huge pages");
  group.set("thp_defrag", choice("defrag"), "the kernel has no transparent huge pages");
  auto auxv = world.read("/proc/self/auxv");
  group.set("page_bytes", auxv ? parse_auxv_page_size(*auxv) : std::nullopt, "/proc/self/auxv does not say it");
  return std::move(group).take();
}

}  // namespace benchctl
