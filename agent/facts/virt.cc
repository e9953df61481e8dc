#include <algorithm>
#include <cctype>

#include "agent/facts/cpu_text.h"
#include "agent/facts/system_text.h"
#include "agent/facts/world.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// "none" of systemd-detect-virt is an answer, not a failure, though its exit code is 1.
std::optional<std::string> detect(const World& world, const std::string& what) {
  auto printed = world.tools.run({"systemd-detect-virt", what});
  if (!printed) return std::nullopt;
  std::string word(trim(*printed));
  bool odd = word.empty() || word.size() > 64 || word.find_first_of(" \n\t") != std::string::npos;
  return odd ? std::nullopt : std::optional(word);
}

// Files that container managers leave, for machines without systemd-detect-virt.
std::optional<std::string> container_files(const World& world) {
  for (const char* file : {"/run/host/container-manager", "/run/systemd/container"})
    if (auto word = world.line(file)) return word->substr(0, 64);
  // What the manager tells the first process: LXC leaves nothing else. Readable for root only.
  auto environment = world.read("/proc/1/environ");
  if (environment)
    for (std::string_view entry : split(*environment, '\0'))
      if (entry.starts_with("container=") && entry.size() > 10) return sanitize(entry.substr(10), 64);
  if (world.read("/.dockerenv")) return "docker";
  if (world.read("/run/.containerenv")) return "podman";
  return std::nullopt;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

Json virt_facts(const World& world) {
  FactGroup group;
  auto container = container_files(world);
  if (!container) container = detect(world, "--container");
  auto vm = detect(world, "--vm");

  auto printed = world.tools.run({"lscpu", "-J"});
  auto fields = printed ? parse_lscpu_json(*printed) : Result<LscpuFields>(printed.error());
  auto vendor = fields ? lscpu_text(*fields, "Hypervisor vendor") : std::nullopt;
  auto cpuinfo = world.read("/proc/cpuinfo");
  CpuInfo info = cpuinfo ? parse_cpuinfo(*cpuinfo) : CpuInfo{};
  bool flag = std::find(info.flags.begin(), info.flags.end(), "hypervisor") != info.flags.end();

  std::optional<std::string> hypervisor = vm;
  if (!hypervisor || *hypervisor == "none") {
    if (vendor) {
      hypervisor = lower(*vendor);
    } else if (flag) {
      hypervisor = "unknown";
    }
  }
  group.set("hypervisor_flag", flag);
  group.set("hypervisor", hypervisor, "no systemd-detect-virt, no lscpu and no hypervisor flag");
  group.set("container", container, "no systemd-detect-virt and no container manager's file");
  bool in_container = container && *container != "none";
  group.set("kind", in_container ? container : hypervisor, "neither a container nor a hypervisor could be told");

  for (const auto& [key, file] : {std::pair{"dmi_vendor", "sys_vendor"}, {"dmi_product", "product_name"}}) {
    auto text = world.line(std::string("/sys/class/dmi/id/") + file);
    if (!text) text = world.line(std::string("/sys/devices/virtual/dmi/id/") + file);
    group.set(key, text, "no DMI");
  }
  const std::string clock = "/sys/devices/system/clocksource/clocksource0/";
  group.set("clocksource", world.line(clock + "current_clocksource"), "no " + clock + "current_clocksource");
  group.set("clocksources", world.line(clock + "available_clocksource"), "no " + clock + "available_clocksource");
  return std::move(group).take();
}

}  // namespace benchctl
