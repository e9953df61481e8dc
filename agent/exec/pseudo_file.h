// Files of /proc and /sys that are read again and again: opened once, read by pread, so that a reading during a
// measured window costs one small system call.
#pragma once

#include <string>
#include <string_view>

#include "lib/files.h"

namespace benchctl {

class PseudoFile {
 public:
  explicit PseudoFile(const std::string& path);
  // The content, at most `limit` bytes of it; empty when the file is absent or not readable. Valid until the next
  // call.
  std::string_view read(size_t limit = 1 << 20);

 private:
  UniqueFd fd_;
  std::string buffer_;
};

// The number after `key` and a space at the start of a line ("oom_kill 3"), or `otherwise`.
int64_t keyed_number(std::string_view text, std::string_view key, int64_t otherwise = 0);

}  // namespace benchctl
