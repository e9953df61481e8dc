#include "agent/facts/fsync_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {

Result<FsyncLatency> probe_fsync(const std::string& folder, int writes, Nanos limit, Clock& clock) {
  std::string path = folder + "/.fsync-probe-" + random_hex(6);
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return errno_error("create " + path);
  unlink(path.c_str());  // nothing is left behind, however this ends
  const Deadline deadline = Deadline::in(clock, limit);
  const std::string block(4096, 'b');
  std::vector<int64_t> times;
  for (int i = 0; i < writes && (i == 0 || !deadline.passed(clock)); ++i) {
    Nanos before = clock.now();
    BENCHCTL_CHECK(write_all(fd.get(), block));
    if (fdatasync(fd.get()) != 0) return errno_error("fdatasync " + path);
    times.push_back((clock.now() - before).count());
  }
  if (times.empty()) return Error{ErrorKind::kInternal, "no write was asked for"};
  std::sort(times.begin(), times.end());
  auto rank = [&](double share) {
    auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(times.size())));
    return times[std::max<size_t>(at, 1) - 1];
  };
  return FsyncLatency{static_cast<int64_t>(times.size()), rank(0.50), rank(0.99), times.back()};
}

}  // namespace benchctl
