// The agent's verbs beside `run`: what a controller calls over its connection. Each returns success or an Error whose
// kind gives the exit code.
#pragma once

#include <cstdint>
#include <string>

#include "lib/result.h"

namespace benchctl {

// stdin: a pack; DEST appears whole or not at all. `sha256` is that of the manifest's text.
Status unpack(const std::string& sha256, const std::string& dest);
// stdin: job JSON into D/job.json; the same content again is success, another content kUsage.
Status accept_job(const std::string& dir);
// stdin: RoundSpec JSON into D/rounds/.
Status accept_round(const std::string& dir);
// Event lines with number >= from; then waits `follow_s` seconds (0: not at all) for more, until run_done.
Status print_events(const std::string& dir, int64_t from, int64_t follow_s);
// The pack of a sealed unit to stdout, then D/acks/<unit>.
Status pull(const std::string& dir, const std::string& unit);
// Asks the runner to stop; it stays asked for when none runs now.
Status stop(const std::string& dir);
Status print_state(const std::string& dir);
Status print_version();
Status print_facts(const std::string& workdir);

}  // namespace benchctl
