// The proof that the machine is still as quiet as it was made, at the start and at the end of a run.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/wire/harden.h"

namespace benchctl {

// "start", or "boot" when the machine has booted since the last agent of this run.
std::string proof_moment(const std::string& last_boot_id, const std::string& boot_id);

// `harden` is Job::harden: a profile and "journal", where its apply has noted what it did. A document that is none is a
// problem, never a silent success.
QuietProof prove_quiet(const Json& harden, Clock& clock);

}  // namespace benchctl
