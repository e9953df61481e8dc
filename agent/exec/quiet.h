// Waiting for a quiet machine before a round: the busy share of others over one second, never load averages.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "agent/exec/pseudo_file.h"
#include "agent/exec/stop_signal.h"
#include "lib/clock.h"

namespace benchctl {

struct QuietLimits {
  double max_other_busy = 0;  // CPUs' worth, on the trials' CPUs
  int64_t wait_ms = 0;        // 0: no look at all
};

// Returns when a second was quiet, when the wait is used up or when a stop is asked for. `say(busy, gave_up)` is called
// before the first second of waiting beyond the first look, and when the round starts although it is not quiet. Gives
// what the last second was; nothing when none was looked at or its counters made no sense.
Result<std::optional<double>> wait_until_quiet(const std::vector<int>& cpus, const QuietLimits& limits, Clock& clock,
                                               StopSignal& stop,
                                               const std::function<Status(double busy, bool gave_up)>& say);

// Sleeps until a stop is asked for, `other` (-1: none) is readable or `span_ms` is over; true when `other` is readable.
bool sleep_or_stop(StopSignal& stop, int other, int64_t span_ms);

}  // namespace benchctl
