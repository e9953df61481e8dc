#include "provisioning/providers/nspawn_shape.h"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <set>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// "0-3,8": nullopt when it is no CPU list.
std::optional<std::set<int64_t>> parse_cpus(std::string_view list) {
  std::set<int64_t> cpus;
  for (std::string_view part : split(trim(list), ',')) {
    auto ends = split(part, '-');
    auto first = parse_int(ends[0]), last = parse_int(ends.back());
    if (ends.size() > 2 || !first || !last || *first < 0 || *last < *first || *last > 65535) return std::nullopt;
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

Error bad(const std::string& option, const std::string& why) {
  return Error{ErrorKind::kUsage, "option " + option + " of provider nspawn: " + why};
}

Result<int64_t> bytes(const std::string& option, const std::string& text, int64_t least) {
  auto value = parse_bytes(text);
  if (!value || *value < least)
    return bad(option, "\"" + sanitize(text, 60) + "\" must be a size of at least " + format_bytes(least));
  return *value;
}

}  // namespace

Result<NspawnShape> NspawnShape::parse(const MachineSpec& spec) {
  NspawnShape options;
  utsname host{};
  uname(&host);
  if (!spec.arch.empty() && spec.arch != host.machine)
    return Error{ErrorKind::kUsage, "arch " + sanitize(spec.arch, 40) +
                                        ": provider nspawn shares this computer's kernel, which is " +
                                        std::string(host.machine)};
  for (const auto& [name, text] : spec.options) {
    if (name == "cpus") {
      auto asked = parse_cpus(text);
      auto online_text = read_pseudo_file("/sys/devices/system/cpu/online");
      auto online = online_text ? parse_cpus(*online_text) : std::nullopt;
      if (!asked) return bad(name, "\"" + sanitize(text, 60) + "\" must be a list like \"0-1\"");
      for (int64_t cpu : *asked)
        if (online && online->count(cpu) == 0)
          return bad(name,
                     "this computer has no CPU " + std::to_string(cpu) + "; it has " + std::string(trim(*online_text)));
      options.limits.cpus = text;
    } else if (name == "memory") {
      BENCHCTL_TRY(options.limits.memory_bytes, bytes(name, text, int64_t{128} << 20));
      struct sysinfo host_memory {};
      if (sysinfo(&host_memory) == 0) {
        auto has = static_cast<int64_t>(host_memory.totalram) * host_memory.mem_unit;
        if (options.limits.memory_bytes > has)
          return bad(name, text + " is more than this computer has, which is " + format_bytes(has));
      }
    } else if (name == "disk") {
      BENCHCTL_TRY(options.disk_bytes, bytes(name, text, int64_t{64} << 20));
    } else if (name == "root") {
      BENCHCTL_TRY(options.root_bytes, bytes(name, text, int64_t{64} << 20));
    } else if (name != "packages") {  // of the image, not of the machine's shape
      auto guess = did_you_mean(name, {"cpus", "memory", "disk", "root", "packages"});
      return bad(sanitize(name, 60), guess ? "unknown; did you mean " + *guess + "?"
                                           : "unknown; there are cpus, memory, disk, root and packages");
    }
  }
  return options;
}

}  // namespace benchctl
