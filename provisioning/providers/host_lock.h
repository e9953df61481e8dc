// One trial at a time on this computer, whoever's it is.
#pragma once

#include <functional>
#include <string>

#include "lib/clock.h"
#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

// Where the lock is: in the first of /run/lock, /var/lock and /tmp that all users may write to.
std::string host_lock_path();

// Waits until no one else on this computer, root or user, holds the turn. kInterrupted when `stop` (may be empty) says
// so, kProvisioning at the deadline; both name the holder. Held until the result is destroyed, or the process dies.
// `waits` (may be empty) is told each holder that is waited for, once: "held by run x, pid 1, uid 0".
Result<FileLock> take_host_turn(const std::string& holder, Clock& clock, Deadline deadline,
                                const std::function<bool()>& stop = {},
                                const std::function<void(const std::string&)>& waits = {},
                                const std::string& path = host_lock_path());

}  // namespace benchctl
