// facts.before.json and facts.after.json.
#pragma once

#include <string>

#include "agent/exec/run_folder.h"
#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

Status write_facts(const RunFolder& folder, const std::string& name, Clock& clock);

}  // namespace benchctl
