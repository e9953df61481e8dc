#include "agent/exec/ack_wait.h"

#include <fcntl.h>
#include <sys/file.h>

#include "agent/exec/folder_watch.h"
#include "agent/exec/quiet.h"

namespace benchctl {

void wait_for_ack(const RunFolder& folder, const std::string& unit, int64_t span_ms, Clock& clock, StopSignal& stop,
                  const std::function<bool()>& stopping) {
  UniqueFd follow(open(folder.file("follow.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!follow || flock(follow.get(), LOCK_EX | LOCK_NB) == 0) return;
  auto watch = FolderWatch::on(folder.file("acks"));
  if (!watch) return;
  Deadline deadline = Deadline::in(clock, std::chrono::milliseconds(span_ms));
  while (!exists(folder.file("acks/" + unit)) && !deadline.passed(clock) && !stopping()) {
    int64_t left_ms = std::chrono::ceil<std::chrono::milliseconds>(deadline.left(clock)).count();
    if (sleep_or_stop(stop, watch->fd(), left_ms)) watch->drain();
  }
}

}  // namespace benchctl
