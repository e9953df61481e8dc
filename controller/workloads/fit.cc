#include "controller/workloads/fit.h"

#include <gnu/libc-version.h>

#include <string_view>

#include "controller/workloads/build.h"
#include "controller/workloads/target.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {

MachineTraits these_traits() {
  MachineTraits traits{this_architecture(), {}, std::string("glibc ") + gnu_get_libc_version()};
  auto cpuinfo = read_pseudo_file("/proc/cpuinfo");
  if (!cpuinfo) return traits;
  for (std::string_view line : split(*cpuinfo, '\n')) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    for (std::string_view flag : split(line.substr(line.find(':') + 1), ' '))
      if (!flag.empty()) traits.cpu_flags.emplace_back(flag);
    break;
  }
  return traits;
}

std::string unfit(const Json& manifest, const MachineTraits& machine) {
  const std::string arch = manifest["arch"].as_string(), isa = manifest["isa"].as_string(),
                    glibc = manifest["min_glibc"].as_string();
  if (arch.empty()) return "";
  if (arch != machine.arch) return "it is built for " + arch + ", and the machine is " + sanitize(machine.arch, 40);
  if (!machine.cpu_flags.empty()) {
    auto lacking = missing_flags(flags_of_isa(isa), machine.cpu_flags);
    if (!lacking.empty()) return "it is built for " + isa + ", and the CPU lacks " + join(lacking, ", ");
    lacking = missing_flags(manifest["cpu_flags"].as_strings(), machine.cpu_flags);
    if (!lacking.empty()) return "it needs " + join(lacking, ", ") + ", which the CPU lacks";
  }
  if (!glibc_suffices(glibc, machine.libc))
    return "it needs glibc " + glibc + " or newer, and the machine has " + sanitize(machine.libc, 60);
  return "";
}

}  // namespace benchctl
