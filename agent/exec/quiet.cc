#include "agent/exec/quiet.h"

#include <poll.h>

#include <algorithm>

#include "agent/exec/cpu_times.h"

namespace benchctl {

bool sleep_or_stop(StopSignal& stop, int other, int64_t span_ms) {
  if (stop.requested()) return false;
  pollfd fds[] = {{stop.fd(), POLLIN, 0}, {other, POLLIN, 0}};
  poll(fds, 2, static_cast<int>(std::clamp<int64_t>(span_ms, 0, 3'600'000)));
  stop.requested();
  return other >= 0 && fds[1].revents != 0;
}

Result<std::optional<double>> wait_until_quiet(const std::vector<int>& cpus, const QuietLimits& limits, Clock& clock,
                                               StopSignal& stop,
                                               const std::function<Status(double busy, bool gave_up)>& say) {
  if (limits.wait_ms <= 0) return std::optional<double>();
  PseudoFile stat("/proc/stat");
  Deadline deadline = Deadline::in(clock, std::chrono::milliseconds(limits.wait_ms));
  CpuTable before = parse_cpu_table(stat.read());
  for (bool said = false;;) {
    sleep_or_stop(stop, -1, 1'000);
    if (stop.requested()) return std::optional<double>();
    CpuTable after = parse_cpu_table(stat.read());
    auto busy = busy_between(before, after, cpus);
    before = std::move(after);
    if (!busy || *busy < limits.max_other_busy) return busy;
    bool gave_up = deadline.left(clock) < std::chrono::seconds(1);
    if (!said || gave_up) BENCHCTL_CHECK(say(*busy, gave_up));
    said = true;
    if (gave_up) return busy;
  }
}

}  // namespace benchctl
