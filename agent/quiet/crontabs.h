// What cron and anacron would run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/quiet/units.h"
#include "agent/quiet/world.h"

namespace benchctl {

// Files that would make a cron daemon run something -> sha256: /etc/crontab, /etc/anacrontab, /etc/cron.*/ and all
// below /var/spool/cron. A crontab of comments and variables only is none. Hidden files are none (.placeholder).
std::map<std::string, std::string> find_crontabs(const QuietWorld& world);

// The names of cron's units that may be there.
const std::vector<std::string>& cron_units();
// The daemons that run now, and those that the next boot or a socket would start: the units of cron_units(), which must
// have been read, and processes of those names. Each in words: "cron.service is active".
std::vector<std::string> cron_daemons(const QuietWorld& world, const Units& units);

}  // namespace benchctl
