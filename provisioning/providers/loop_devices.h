#pragma once

#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

// The loop devices ("/dev/loop3") whose file is `path`, deleted or not.
std::vector<std::string> loop_devices_of(const std::string& path);

// Waits until there is none, and detaches those that do not clear themselves. kLeaked at the deadline.
Status detach_loop_devices(const std::string& path, Clock& clock, Deadline deadline);

}  // namespace benchctl
