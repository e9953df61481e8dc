// systemd's units: states read in few calls, changes made one unit at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/quiet/world.h"

namespace benchctl {

struct UnitState {
  std::string id;  // the canonical name: the one asked for may be an alias
  std::string load, active, sub, file_state, type;
  std::string error;  // why nothing is known; empty: the rest is

  bool there() const { return load != "not-found"; }
  // Also on its way up or down.
  bool running() const { return active != "inactive" && active != "failed"; }
};

class Units {
 public:
  explicit Units(QuietWorld& world);

  // Why there is no systemd to be asked; empty: there is.
  const std::string& obstacle() const { return obstacle_; }

  // Asks for all of these in one call (when systemd answers oddly, for each alone) and keeps the answers.
  void read(const std::vector<std::string>& names);
  const UnitState& of(const std::string& name) const;

  Status stop(const std::string& unit);
  Status start(const std::string& unit, bool wait);
  Status reload();

  struct Timer {
    std::string name;
    std::string next;    // "2026-12-01T06:10:00.000Z", systemd's own words, or "soon"
    std::string starts;  // the unit, when known
  };
  // Every timer that has a next run, by `list-timers --all` and by the timers' own states; the first is left out where
  // systemd is too old to tell it as JSON.
  Result<std::vector<Timer>> standing_timers();

 private:
  Result<std::string> ask(const std::vector<std::string>& words);
  Status order(const std::vector<std::string>& words, Nanos time);

  QuietWorld& world_;
  std::string obstacle_;
  std::map<std::string, UnitState> states_;
};

// The answer to `systemctl show`: one block of KEY=VALUE lines a unit.
std::vector<std::map<std::string, std::string>> parse_show(const std::string& text);
// The answer to `systemctl list-timers --all --output=json`; an error when it is none.
Result<std::vector<Units::Timer>> parse_list_timers(const std::string& text);

}  // namespace benchctl
