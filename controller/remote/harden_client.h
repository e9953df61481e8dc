// `benchagent harden` over a transport.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/result.h"
#include "lib/wire/harden.h"
#include "provisioning/transport.h"

namespace benchctl {

// Where the journal of a machine lies: in its work folder, so that whoever removes the folder puts everything back
// first; without one (hardened by hand) in a lasting place.
std::string harden_journal(const Endpoint& endpoint);

// `verb`: show | apply | verify | undo (which needs no profile but the journal's). The report says whether the machine
// is quiet; an error means that there is none: the agent could not do its work, or it is not what we know. Its texts
// are foreign: sanitize() before showing.
Result<HardenReport> harden(Transport& transport, const std::string& agent_path, const std::string& verb,
                            const HardenProfile& profile, const std::string& journal, Deadline deadline);

// An upper bound for one such call: the profile's waits and room for slow units.
Nanos harden_time(const HardenProfile& profile);

}  // namespace benchctl
