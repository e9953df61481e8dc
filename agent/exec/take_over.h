// Files a workload put into BENCHCTL_OUT, copied into the results by descriptor. What a trial made is hostile: no link
// is followed, nothing but its own plain files is taken, and counts and sizes are capped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/result.h"

namespace benchctl {

inline constexpr int kMaxOutFiles = 64;
inline constexpr int64_t kMaxOutBytes = 16 << 20;

struct TakenOver {
  int files = 0;
  std::vector<std::string> refused;  // "name: reason", sanitised
};

// From the folder `name` below `scratch_fd` to a new folder "out" below `trial_fd`; no folder is made for no files.
// `uid` owns acceptable files. All processes of the trial must have ended. An error: our own side could not be written.
Result<TakenOver> take_over_out(int scratch_fd, const std::string& name, int trial_fd, int uid);

}  // namespace benchctl
