// What every bundle has, whatever made it: its description, its place in the cache under its own hash.
#pragma once

#include <string>

#include "controller/workloads/build_context.h"
#include "controller/workloads/workload.h"
#include "lib/files.h"
#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

// The members of bundle.json that follow from the declarations and their history: bundle, workload, version, build,
// cpu_flags, arms, modes, git.
Json describe_bundle(const Workload& workload, const BuildDecl& build, const BuildContext& context);

// A copy of `tree` with bundle.json, under the name of its hash.
Result<std::string> place_bundle(const std::string& tree, const Json& manifest, BuildContext& context);

// Two builds into one cache take turns.
Result<FileLock> take_cache(const BuildContext& context);

}  // namespace benchctl
