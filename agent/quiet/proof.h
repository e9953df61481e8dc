// The proof that nothing will start by itself.
#pragma once

#include <string>
#include <vector>

#include "agent/quiet/crontabs.h"
#include "agent/quiet/journal.h"
#include "agent/quiet/units.h"

namespace benchctl {

// Timers with a next run that `allowed` does not name.
Result<std::vector<Units::Timer>> forbidden_timers(Units& units, const std::vector<std::string>& allowed);

// Problems, each a line for people. `journal` (may be null) knows which crontabs there were: a new or changed one is a
// problem always, since someone made it after us; the others only while a cron daemon runs or would start again.
std::vector<std::string> timer_problems(Units& units, const std::vector<std::string>& allowed);
std::vector<std::string> crontab_problems(const QuietWorld& world, Units& units, const Journal* journal);

}  // namespace benchctl
