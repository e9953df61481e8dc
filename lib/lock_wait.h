// A lock that is held for a while, waited for.
#pragma once

#include <functional>
#include <string>

#include "lib/clock.h"
#include "lib/files.h"

namespace benchctl {

// FileLock::take(), again every `poll` until the lock is had or the deadline has passed; then the error is the holder's
// (kInterrupted). Before each wait `held` is asked with that error, and an error of its own ends the waiting.
Result<FileLock> wait_for_lock(const std::string& path, const std::string& holder, Clock& clock, Deadline deadline,
                               const std::function<Status(const Error&)>& held = {},
                               Nanos poll = std::chrono::milliseconds(200));

}  // namespace benchctl
