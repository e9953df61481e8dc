// This very program again, as a process that outlives us.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace benchctl {

// In a session of its own, deaf to hang-ups, with nothing on standard input, with what it says in `log` (made when
// absent, never through a link) and with exactly this environment. -1 when there can be no process.
pid_t start_detached(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                     const std::string& log);

}  // namespace benchctl
