// The pause at a round boundary in which a connected controller pulls what was sealed.
#pragma once

#include <functional>
#include <string>

#include "agent/exec/run_folder.h"
#include "agent/exec/stop_signal.h"
#include "lib/clock.h"

namespace benchctl {

// Only where someone follows: pulling must not overlap the next trial. At most `span_ms`, and not beyond a stop.
void wait_for_ack(const RunFolder& folder, const std::string& unit, int64_t span_ms, Clock& clock, StopSignal& stop,
                  const std::function<bool()>& stopping);

}  // namespace benchctl
