// Whether a bundle can run on a machine, by its manifest and the machine's facts: said before it is shipped.
#pragma once

#include <string>
#include <vector>

#include "lib/json.h"

namespace benchctl {

struct MachineTraits {
  std::string arch;
  std::vector<std::string> cpu_flags;  // of /proc/cpuinfo; empty: not known
  std::string libc;                    // "glibc 2.41"; empty: not known
};

// Of this computer.
MachineTraits these_traits();

// Why a bundle with that manifest cannot run there; empty when it can. What is not known of the machine is believed to
// be enough, and a manifest that names no architecture (of a program of the user's own) fits everywhere.
std::string unfit(const Json& manifest, const MachineTraits& machine);

}  // namespace benchctl
