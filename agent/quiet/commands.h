// `benchagent harden`.
#pragma once

#include <string>

#include "lib/result.h"

namespace benchctl {

// show | apply | verify | undo. The profile is JSON on stdin (not for undo), the report JSON on stdout. kUsage for an
// unknown verb or a bad profile; that a machine is not quiet is in the report, not in the status.
Status harden_command(const std::string& verb, const std::string& journal);

}  // namespace benchctl
