#include "lib/lock_wait.h"

namespace benchctl {

Result<FileLock> wait_for_lock(const std::string& path, const std::string& holder, Clock& clock, Deadline deadline,
                               const std::function<Status(const Error&)>& held, Nanos poll) {
  while (true) {
    auto lock = FileLock::take(path, holder);
    if (lock || lock.error().kind != ErrorKind::kInterrupted || deadline.passed(clock)) return lock;
    if (held) BENCHCTL_CHECK(held(lock.error()));
    clock.sleep(poll);
  }
}

}  // namespace benchctl
