#pragma once

#include <cstdint>
#include <string>

namespace benchctl {

// What expansion must know of a machine.
struct MachineShape {
  int cpus = 1;                 // that trials may use: affinity and quota, as the agent reports them
  std::string arch = "x86_64";  // x86_64 | aarch64
  int index = 0;                // of the machine in the run; enters the seed, so that machines run orders of their own
  int64_t first_trial = 1;      // number of its first trial; the caller keeps numbers unique in the run
};

}  // namespace benchctl
