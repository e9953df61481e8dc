// How long a small durable write takes in a folder: what separates a disk from a RAM disk and from a lying one.
#pragma once

#include <cstdint>
#include <string>

#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

struct FsyncLatency {
  int64_t writes = 0;  // fewer than asked when the time was up
  int64_t p50_ns = 0;  // nearest rank
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
};

// `writes` times: append 4 KiB, fdatasync. The file is unnamed or removed; ends at `limit` with what it has, at least
// one.
Result<FsyncLatency> probe_fsync(const std::string& folder, int writes, Nanos limit, Clock& clock);

}  // namespace benchctl
