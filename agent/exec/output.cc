#include "agent/exec/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace benchctl {
namespace {

constexpr size_t kBlock = 64 << 10;
constexpr size_t kHold = 1 << 20;
constexpr size_t kTail = 4 << 10;

}  // namespace

Result<OutputCopy::More> OutputCopy::read_block() {
  if (!pipe_) return More::kNo;
  char buffer[kBlock];
  ssize_t count = read(pipe_.get(), buffer, sizeof buffer);
  if (count < 0 && errno == EINTR) return More::kYes;
  if (count < 0 && errno == EAGAIN) return More::kNo;
  if (count <= 0) {
    pipe_.reset();
    return More::kNo;
  }
  int64_t room = cap_ - bytes_;
  over_cap_ = over_cap_ || count > room;
  size_t kept = static_cast<size_t>(std::clamp<int64_t>(count, 0, room));
  bytes_ += static_cast<int64_t>(kept);
  held_.append(buffer, kept);
  tail_.append(buffer, kept);
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
  if (held_.size() >= kHold) BENCHCTL_CHECK(flush());
  return More::kYes;
}

Status OutputCopy::flush() {
  BENCHCTL_CHECK(write_all(file_.get(), held_));
  held_.clear();
  return {};
}

Status OutputCopy::pump() {
  for (int i = 0; i < 4; ++i) {
    BENCHCTL_TRY(More more, read_block());
    if (more == More::kNo) break;
  }
  return {};
}

Status OutputCopy::finish() {
  // A survivor may still be writing: bounded by what the cap lets in, and by a number of blocks beyond it.
  for (int i = 0; i < 1024; ++i) {
    BENCHCTL_TRY(More more, read_block());
    if (more == More::kNo) break;
  }
  pipe_.reset();
  return flush();
}

}  // namespace benchctl
