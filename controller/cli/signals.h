// SIGINT, SIGTERM and SIGHUP become a wish to stop; a second SIGINT ends the process at once, after saying what stays.
// Only that one is a person's impatience: a terminal that closes sends several hang-ups, and two `cancel` two SIGTERMs.
#pragma once

#include <functional>

#include "controller/fleet/stop.h"

namespace benchctl {

// Starts the watcher thread (once a process). `last_words` is called at the second SIGINT, before _exit(7).
void watch_signals(StopRequest& stop, std::function<void()> last_words);

}  // namespace benchctl
