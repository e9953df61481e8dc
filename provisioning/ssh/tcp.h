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
// With `small_segments` neither side sends packets of more than 576 bytes: what every path must carry.
Result<UniqueFd> tcp_connect(const Endpoint& endpoint, bool small_segments, Clock& clock, Deadline deadline,
                             int cancel_fd);

// Waits until an SSH server has greeted, and leaves the greeting for whoever reads next. The error says what came in
// its place: nothing, the end of the connection, or something else's words.
Status await_greeting(int fd, Clock& clock, Deadline deadline, int cancel_fd);

// Whether this side's bytes vanish on the way now, while others arrived before: packets that are too large for the path
// look so, and so does a link that is cut.
bool bytes_vanish(int fd);

std::string describe(const Endpoint& endpoint);  // "root@10.0.0.2:22", "root@[fd00::2]:22"

}  // namespace benchctl
