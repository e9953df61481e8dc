// Files that only grow: events.jsonl, steal.csv, system.csv. A line is in them whole or not at all, also after a crash
// and on a full disk.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/exec/run_folder.h"
#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

class AppendFile {
 public:
  // Opens or creates D/<name>; a cut last line is removed; a new file begins with `header` (may be empty).
  static Result<AppendFile> open(const RunFolder& folder, const std::string& name, std::string_view header);
  // `text` is whole lines. On an error nothing of it stays. `sync`: returns when it is on the disk.
  Status append(std::string_view text, bool sync);

 private:
  AppendFile(UniqueFd fd, std::string name, int64_t size) : fd_(std::move(fd)), name_(std::move(name)), size_(size) {}
  UniqueFd fd_;
  std::string name_;
  int64_t size_ = 0;
};

// Space kept back, so that a run on a full disk can still write its last events and manifests.
class Ballast {
 public:
  static constexpr int64_t kBytes = 2 << 20;
  explicit Ballast(const RunFolder& folder) : path_(folder.file(kName)) {}
  static constexpr const char* kName = ".ballast";

  Status reserve();
  void release();

 private:
  std::string path_;
};

}  // namespace benchctl
