#include "agent/quiet/proof.h"

#include <algorithm>

#include "lib/text.h"

namespace benchctl {

Result<std::vector<Units::Timer>> forbidden_timers(Units& units, const std::vector<std::string>& allowed) {
  BENCHCTL_TRY(auto timers, units.standing_timers());
  std::erase_if(timers, [&](const Units::Timer& timer) {
    return std::find(allowed.begin(), allowed.end(), timer.name) != allowed.end();
  });
  return timers;
}

std::vector<std::string> timer_problems(Units& units, const std::vector<std::string>& allowed) {
  auto timers = forbidden_timers(units, allowed);
  if (!timers) return {"the timers cannot be listed: " + timers.error().message};
  std::vector<std::string> problems;
  for (const Units::Timer& timer : *timers)
    problems.push_back(sanitize(timer.name, 200) + " has a next run: " + sanitize(timer.next, 60) +
                       (timer.starts.empty() ? "" : " (it starts " + sanitize(timer.starts, 200) + ")"));
  return problems;
}

std::vector<std::string> crontab_problems(const QuietWorld& world, Units& units, const Journal* journal) {
  units.read(cron_units());
  const std::vector<std::string> daemons = cron_daemons(world, units);
  std::vector<std::string> problems;
  for (const auto& [path, hash] : find_crontabs(world)) {
    const std::string name = sanitize(path, 200);
    auto known =
        journal != nullptr ? journal->crontabs().find(path) : std::map<std::string, std::string>::const_iterator();
    if (journal != nullptr && known == journal->crontabs().end()) {
      problems.push_back(name + " is a new crontab");
    } else if (journal != nullptr && known->second != hash) {
      problems.push_back(name + " was changed after hardening");
    } else if (!daemons.empty()) {
      problems.push_back(name + " would be run: " + daemons.front());
    }
  }
  return problems;
}

}  // namespace benchctl
