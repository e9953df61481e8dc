// TCP connections with a deadline, from our own network namespace or from another.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/files.h"
#include "lib/result.h"
#include "provisioning/provider.h"

namespace benchctl {

// A connected, non-blocking, close-on-exec socket that notices a dead peer (keepalive, user timeout). Tries every
// address of the host once. `cancel_fd` becoming readable ends it (kInterrupted). Needs root when endpoint.netns is
// set. Names are looked up by the C library, which does not know our deadline: give addresses where you have them.
Result<UniqueFd> tcp_connect(const Endpoint& endpoint, Clock& clock, Deadline deadline, int cancel_fd);

std::string describe(const Endpoint& endpoint);  // "root@10.0.0.2:22", "root@[fd00::2]:22"

}  // namespace benchctl
