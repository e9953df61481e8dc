// A look at the machine just before a round: the same small piece of work again and again on one of the trials' CPUs.
// How much its durations differ is what others (a hypervisor, interrupts, other processes) take away unasked.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "agent/exec/cgroup.h"
#include "lib/clock.h"
#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

// Nearest ranks of the durations of one quantum, in nanoseconds.
struct SpinFigures {
  int64_t p50_ns = 0, p99_ns = 0, max_ns = 0;
  bool operator==(const SpinFigures&) const = default;
};
std::optional<SpinFigures> spin_figures(std::vector<int64_t> durations_ns);

// Durations of a quantum of `iterations` within `span`; at least one.
std::vector<int64_t> spin(Clock& clock, int64_t iterations, Nanos span);
// How many iterations take about 50 µs here: from the fastest of several tries, so that a disturbed one does not count.
int64_t calibrate_spin(Clock& clock);

class RoundProbe {
 public:
  // The quantum is calibrated by the first take() and then stays the same work: later rounds can be compared with it.
  RoundProbe(Clock& clock, const CgroupHost& cgroups) : clock_(clock), cgroups_(cgroups) {}

  // Fields of the event round_probe for about `span_ms` on the first of `cpus`, where this process moves to and comes
  // back from. What could not be measured is null. An error only when it cannot come back.
  Result<Json> take(const std::vector<int>& cpus, int64_t span_ms, int round, std::optional<double> busy);

 private:
  Clock& clock_;
  const CgroupHost& cgroups_;
  int64_t iterations_ = 0;
};

}  // namespace benchctl
