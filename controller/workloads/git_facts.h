// Where files stand in the history of their git repository.
#pragma once

#include <string>
#include <vector>

#include "lib/clock.h"

namespace benchctl {

struct GitFacts {
  std::string commit;       // the last one that touched the files; empty outside a repository, or without git
  bool dirty = false;       // the files differ from it, or are not in it
  std::string diff_sha256;  // of the difference; empty when there is none
};

// `paths` (files or folders, absolute) lie in one repository. Never fails: provenance that is not there is left empty.
GitFacts git_facts(const std::string& folder, const std::vector<std::string>& paths, Clock& clock);

}  // namespace benchctl
