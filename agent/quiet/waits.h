// What must be over before a machine is changed: cloud-init's work, and whoever holds dpkg's locks.
#pragma once

#include <vector>

#include "agent/quiet/world.h"
#include "lib/wire/harden.h"

namespace benchctl {

// One row each (knob "wait"): already, applied (it was waited for), absent (nothing to wait for), failed (the profile's
// bound has passed). Waits no longer than the bounds together.
std::vector<HardenRow> wait_before(const QuietWorld& world, const HardenProfile& profile);

}  // namespace benchctl
