// What a run was begun with, beside its plan: kept in its folder so that `resume` goes on with the same programs and
// the same agent, whatever was built or updated since.
#pragma once

#include <string>

#include "controller/cli/context.h"
#include "controller/fleet/run_context.h"

namespace benchctl {

// <run folder>/inputs.json; on the disk when it returns. The agent's binary is copied into the cache by its hash, and
// `input.agent_binary` names that copy from then on.
Status save_inputs(Context& context, RunInput& input);

// Fills root of the plan, bundles, agent_binary, the hardening profile and keep_ms. kUsage when a workload is not the
// one of then any more: one run does not mix two definitions.
Status load_inputs(const std::string& run_folder, RunInput& input);

}  // namespace benchctl
