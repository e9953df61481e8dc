// The files that a build depends on.
#pragma once

#include <string>
#include <vector>

#include "lib/result.h"

namespace benchctl {

// Paths below `folder` that match one of the patterns (as of a shell: "*" does not cross a slash), sorted, each
// once. A pattern that matches nothing is an error: it would hide a renamed file from the hash.
Result<std::vector<std::string>> find_sources(const std::string& folder, const std::vector<std::string>& patterns);

// The sha256 over paths, modes and contents of those files.
Result<std::string> hash_files(const std::string& folder, const std::vector<std::string>& paths);

}  // namespace benchctl
