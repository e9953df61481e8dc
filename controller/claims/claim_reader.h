// claims/*.toml -> ClaimFile.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/claims/claim.h"
#include "controller/workloads/workload.h"
#include "lib/result.h"

namespace benchctl {

// All mistakes at once, one a line, as file:line:column with what was probably meant (kUsage). Workloads, modes, arms,
// parameters and their values are held against the declarations; cases are known to a run only.
Result<ClaimFile> parse_claims(std::string_view text, const std::string& file, const std::vector<Workload>& workloads);
// The same from a regular file of at most 1 MiB; `shown` is its name in messages.
Result<ClaimFile> load_claims(const std::string& path, const std::string& shown,
                              const std::vector<Workload>& workloads);

}  // namespace benchctl
