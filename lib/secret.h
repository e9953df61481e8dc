// Values that nobody else may see: taken out of the environment or from a private file, never printed (there is no
// operator<< and no way to a std::string but reveal()), wiped when they are no longer needed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace benchctl {

class Secret {
 public:
  explicit Secret(std::string_view value);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  // For the one header or argument that needs it; valid as long as this object.
  std::string_view reveal() const { return {bytes_.get(), size_}; }

 private:
  void wipe();

  // Not a std::string: its small buffer is copied when it moves, and the copy left behind is not ours to wipe.
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

using Secrets = std::map<std::string, Secret>;  // by the name of the variable it came from

// Keeps of this process's environment the variables for which `keep` is true, moves those named in `taken` (when not
// empty) into the answer and removes everything else. What is removed or moved is first overwritten where the kernel
// put it, so that /proc/PID/environ does not show it either. Not thread-safe: for the beginning of main.
Secrets scrub_environment(bool (*keep)(std::string_view name), const std::vector<std::string>& taken);

// A file that holds one secret and perhaps a line feed: regular, no link, owned by us or root, mode 0600 or narrower.
// kUsage says what is wrong and how to put it right; never what the file holds.
Result<Secret> read_secret_file(const std::string& path);

}  // namespace benchctl
