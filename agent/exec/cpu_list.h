// The CPUs that a process may use. Ids may be sparse and above 1,023. Lists as text are agent/facts/cpu_text.h's.
#pragma once

#include <vector>

#include "lib/result.h"

namespace benchctl {

Result<std::vector<int>> allowed_cpus();  // of the calling process, sorted
// sched_setaffinity of the calling process; only system calls and no allocation, so that it may stand between fork and
// exec. Returns 0 or an errno.
int set_affinity(const std::vector<int>& cpus);

}  // namespace benchctl
