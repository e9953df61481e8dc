#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "agent/facts/cpu_text.h"
#include "agent/facts/system_text.h"
#include "agent/facts/world.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

const std::string kCpus = "/sys/devices/system/cpu";

template <typename T>
std::optional<T> first_of(std::optional<T> one, std::optional<T> other) {
  return one ? one : other;
}

std::optional<std::vector<int>> online_cpus(const World& world) {
  auto text = world.line(kCpus + "/online");
  return text ? parse_cpu_list(*text) : std::nullopt;
}

// Distinct values of cpuN/<file> over the online CPUs; empty when no CPU has it.
std::set<std::string> over_cpus(const World& world, const std::vector<int>& cpus, const std::string& file) {
  std::set<std::string> values;
  for (int cpu : cpus)
    if (auto value = world.line(kCpus + "/cpu" + std::to_string(cpu) + "/" + file)) values.insert(*value);
  return values;
}

// Sockets from package ids (some virtual machines say -1: not known), cores from the groups of sibling threads.
Topology sysfs_topology(const World& world, const std::vector<int>& cpus) {
  Topology topology;
  auto packages = over_cpus(world, cpus, "topology/physical_package_id");
  if (!packages.empty() && packages.count("-1") == 0) topology.sockets = static_cast<int64_t>(packages.size());
  auto cores = over_cpus(world, cpus, "topology/core_cpus_list");
  if (cores.empty()) cores = over_cpus(world, cpus, "topology/thread_siblings_list");
  if (!cores.empty()) topology.cores = static_cast<int64_t>(cores.size());
  return topology;
}

void set_topology(FactGroup& group, const World& world, const LscpuFields& lscpu, const CpuInfo& info) {
  auto online = online_cpus(world);
  if (online && online->empty()) online = std::nullopt;
  group.set("online", online ? std::optional(format_cpu_list(*online)) : lscpu_text(lscpu, "On-line CPU(s) list"),
            "neither " + kCpus + "/online nor lscpu says it");
  group.set("offline", world.line(kCpus + "/offline"), "no CPU is offline");
  group.set("isolated", world.line(kCpus + "/isolated"), "no CPU is isolated");
  Topology fields = lscpu_topology(lscpu), files;
  if (online) files = sysfs_topology(world, *online);
  if (online) files.threads = static_cast<int64_t>(online->size());
  auto processors = info.processors > 0 ? std::optional(int64_t{info.processors}) : std::nullopt;
  group.set("threads", first_of(files.threads, first_of(fields.threads, processors)), "no source tells the CPUs");
  group.set("cores", first_of(files.cores, fields.cores), "neither sysfs nor lscpu tells the cores");
  group.set("sockets", first_of(files.sockets, fields.sockets), "neither sysfs nor lscpu tells the sockets");
  auto smt = world.number(kCpus + "/smt/active");
  group.set("smt_active", smt ? std::optional(*smt != 0) : std::nullopt, "no " + kCpus + "/smt/active");
  group.set("smt_control", world.line(kCpus + "/smt/control"), "no " + kCpus + "/smt/control");
  auto nodes = world.line("/sys/devices/system/node/online");
  auto list = nodes ? parse_cpu_list(*nodes) : std::nullopt;
  group.set(
      "numa_nodes",
      list && !list->empty() ? std::optional(static_cast<int64_t>(list->size())) : lscpu_int(lscpu, "NUMA node(s)"),
      "the kernel has no NUMA");
  bool hybrid = world.line("/sys/devices/cpu_core/cpus") && world.line("/sys/devices/cpu_atom/cpus");
  group.set("hybrid", hybrid || (info.midr && info.midr->find('+') != std::string::npos));
}

// {"L1d":{"bytes":49152,"instances":2}, …} of all online CPUs; an instance is a distinct set of sharing CPUs.
void set_caches(FactGroup& group, const World& world, const LscpuFields& lscpu, const std::vector<int>& cpus) {
  std::map<std::string, std::pair<int64_t, std::set<std::string>>> found;
  for (int cpu : cpus) {
    std::string folder = kCpus + "/cpu" + std::to_string(cpu) + "/cache";
    for (int index = 0; index < 16; ++index) {
      std::string at = folder + "/index" + std::to_string(index) + "/";
      auto level = world.number(at + "level");
      auto type = world.line(at + "type"), size = world.line(at + "size"), shared = world.line(at + "shared_cpu_list");
      if (!level) break;
      auto bytes = size ? parse_cache_size(*size) : std::nullopt;
      if (!type || !bytes) continue;
      std::string name = "L" + std::to_string(*level) + (*type == "Data" ? "d" : *type == "Instruction" ? "i" : "");
      found[name].first = std::max(found[name].first, bytes->bytes);
      found[name].second.insert(shared.value_or(std::to_string(cpu)));
    }
  }
  Json caches = Json::object();
  for (const auto& [name, cache] : found)
    caches.set(name, Json::object({{"bytes", cache.first}, {"instances", static_cast<int64_t>(cache.second.size())}}));
  for (const char* name : {"L1d", "L1i", "L2", "L3", "L4"}) {
    auto text = first_of(lscpu_text(lscpu, std::string(name) + " cache"), lscpu_text(lscpu, name));  // nested form
    auto cache = found.empty() && text ? parse_cache_size(*text) : std::nullopt;
    if (!cache) continue;
    caches.set(name, Json::object({{"bytes", cache->bytes},
                                   {"instances", cache->instances > 0 ? Json(cache->instances) : Json()}}));
  }
  if (caches.as_object().empty()) {
    group.none("caches", "neither sysfs nor lscpu tells the caches");
  } else {
    group.set("caches", std::move(caches));
  }
}

void set_frequency(FactGroup& group, const World& world, const std::vector<int>& cpus) {
  auto one = [&](const std::string& key, const std::string& file) {
    auto values = over_cpus(world, cpus, "cpufreq/" + file);
    if (values.empty()) return group.none(key, "no cpufreq: the frequency is not exposed");
    group.set(key, join({values.begin(), values.end()}, "+"));
  };
  one("governor", "scaling_governor");
  one("cpufreq_driver", "scaling_driver");
  one("max_khz", "cpuinfo_max_freq");
  auto no_turbo = world.number(kCpus + "/intel_pstate/no_turbo");
  auto boost = world.number(kCpus + "/cpufreq/boost");
  group.set("no_turbo", no_turbo ? std::optional(*no_turbo != 0) : std::nullopt, "no intel_pstate");
  group.set("boost", boost ? std::optional(*boost != 0) : std::nullopt, "no " + kCpus + "/cpufreq/boost");
  group.set("cpuidle_driver", world.line(kCpus + "/cpuidle/current_driver"), "no cpuidle");
  group.set(
      "cpuidle_governor",
      first_of(world.line(kCpus + "/cpuidle/current_governor"), world.line(kCpus + "/cpuidle/current_governor_ro")),
      "no cpuidle");
}

// What this process may use: in a container lscpu shows the host's CPUs, affinity and quota say what is left.
void set_usable(FactGroup& group, const World& world) {
  std::optional<std::vector<int>> allowed;
  auto status = world.read("/proc/self/status");
  if (status)
    for (std::string_view line : split(*status, '\n'))
      if (line.starts_with("Cpus_allowed_list:")) allowed = parse_cpu_list(line.substr(line.find(':') + 1));
  if (allowed && allowed->empty()) allowed = std::nullopt;
  group.set("affinity", allowed ? std::optional(format_cpu_list(*allowed)) : std::nullopt,
            "no Cpus_allowed_list in /proc/self/status");

  std::optional<double> quota;
  auto mounts = world.read("/proc/self/mountinfo"), own = world.read("/proc/self/cgroup");
  auto cgroup = mounts && own ? cgroup_folders(parse_mountinfo(*mounts), *own, "cpu") : CgroupFolders{};
  for (const std::string& folder : cgroup.folders) {
    auto limit = cgroup.version == 2 ? world.line(folder + "/cpu.max") : world.line(folder + "/cpu.cfs_quota_us");
    if (limit && cgroup.version == 1) *limit += " " + world.line(folder + "/cpu.cfs_period_us").value_or("");
    auto cpus = limit ? parse_cpu_max(*limit) : std::nullopt;
    if (cpus && (!quota || *cpus < *quota)) quota = cpus;
  }
  group.set("quota_cpus", quota, cgroup.version == 0 ? "no cgroup of the cpu controller" : "no quota is set");
  if (!allowed) return group.none("cpus_usable", "the affinity is not known");
  auto usable = static_cast<double>(allowed->size());
  if (quota) usable = std::min(usable, std::max(1.0, std::floor(*quota)));
  group.set("cpus_usable", static_cast<int64_t>(usable));
}

}  // namespace

Json cpu_facts(const World& world) {
  FactGroup group;
  std::string why_not = "lscpu does not say it and /proc/cpuinfo neither";
  LscpuFields lscpu;
  auto printed = world.tools.run({"lscpu", "-J"});
  auto fields = printed ? parse_lscpu_json(*printed) : Result<LscpuFields>(printed.error());
  if (fields) {
    lscpu = *fields;
  } else {
    why_not = "lscpu: " + sanitize(fields.error().message, 200) + ", and /proc/cpuinfo does not say it";
  }
  auto text = world.read("/proc/cpuinfo");
  CpuInfo info = text ? parse_cpuinfo(*text) : CpuInfo{};

  auto architecture = lscpu_text(lscpu, "Architecture");
  if (utsname name{}; world.live() && uname(&name) == 0) architecture = name.machine;
  group.set("architecture", architecture, "neither uname nor lscpu says it");
  // The kernel's own words first where both have them: those of lscpu change with its version.
  group.set("vendor", first_of(info.vendor, lscpu_text(lscpu, "Vendor ID")), why_not);
  group.set("family", first_of(info.family, lscpu_int(lscpu, "CPU family")), why_not);
  group.set("model", first_of(info.model, lscpu_int(lscpu, "Model")), why_not);
  auto stepping = lscpu_text(lscpu, "Stepping");
  if (info.stepping) stepping = std::to_string(*info.stepping);
  group.set("stepping", stepping, why_not);
  group.set("model_name", first_of(info.model_name, lscpu_text(lscpu, "Model name")), why_not);
  group.set("microcode", first_of(info.microcode, world.line(kCpus + "/cpu0/microcode/version")),
            "neither /proc/cpuinfo nor sysfs says it");
  group.set("midr", info.midr, "not an arm64 (no CPU implementer in /proc/cpuinfo)");
  if (info.flags.empty())
    if (auto flags = lscpu_text(lscpu, "Flags"))
      for (std::string_view flag : split(*flags, ' ')) info.flags.emplace_back(flag);
  if (info.flags.empty()) {
    group.none("flags", why_not);
  } else {
    group.set("flags", info.flags);
  }
  set_topology(group, world, lscpu, info);
  set_usable(group, world);
  auto online = online_cpus(world).value_or(std::vector<int>{});
  set_caches(group, world, lscpu, online);
  set_frequency(group, world, online);
  Json vulnerabilities = Json::object();
  for (const std::string& name : world.list(kCpus + "/vulnerabilities"))
    if (auto state = world.line(kCpus + "/vulnerabilities/" + name)) vulnerabilities.set(name, *state);
  if (vulnerabilities.as_object().empty()) {
    group.none("vulnerabilities", "no " + kCpus + "/vulnerabilities");
  } else {
    group.set("vulnerabilities", std::move(vulnerabilities));
  }
  return std::move(group).take();
}

}  // namespace benchctl
