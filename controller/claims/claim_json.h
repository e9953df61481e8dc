// Claims as the analysis and a run's folder have them: a JSON array of
// {id, file, source: {title, environment}, statement, published, kind, not_tested, min, max (null: open),
//  regime: {words, filesystem: [], arch, cpus}, of: [{workload, mode, arm, case, metric, params: {}}], to: [...]}.
#pragma once

#include "controller/claims/claim.h"
#include "lib/json.h"

namespace benchctl {

// Adds a file's claims to the array.
void add_to(Json& array, const ClaimFile& file);

}  // namespace benchctl
