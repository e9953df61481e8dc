#include "controller/workloads/sources.h"

#include <glob.h>

#include <filesystem>
#include <set>

#include "lib/pack.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {

Result<std::vector<std::string>> find_sources(const std::string& folder, const std::vector<std::string>& patterns) {
  std::set<std::string> found;
  for (const std::string& pattern : patterns) {
    glob_t matches{};
    int failed = glob((folder + "/" + pattern).c_str(), GLOB_ERR | GLOB_NOSORT, nullptr, &matches);
    size_t files = 0;
    for (size_t i = 0; failed == 0 && i < matches.gl_pathc; ++i) {
      std::error_code ec;
      if (!std::filesystem::is_regular_file(matches.gl_pathv[i], ec)) continue;
      found.insert(std::string(matches.gl_pathv[i]).substr(folder.size() + 1));
      ++files;
    }
    globfree(&matches);
    if (files == 0)
      return Error{ErrorKind::kUsage,
                   folder + ": the source pattern \"" + sanitize(pattern, 200) + "\" matches no file"};
  }
  return std::vector<std::string>(found.begin(), found.end());
}

Result<std::string> hash_files(const std::string& folder, const std::vector<std::string>& paths) {
  BENCHCTL_TRY(auto entries, scan_tree(folder, paths));
  return sha256_hex(format_manifest(entries));
}

}  // namespace benchctl
