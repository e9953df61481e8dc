#include "agent/quiet/crontabs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int kDepth = 4;
constexpr size_t kMostFiles = 5000;

// Something beside comments and NAME = value lines?
bool runs_something(std::string_view crontab) {
  for (std::string_view line : split(crontab, '\n')) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    size_t equals = line.find('='), space = line.find_first_of(" \t");
    bool variable = equals != std::string_view::npos &&
                    (space == std::string_view::npos || equals < space || trim(line.substr(space)).starts_with('='));
    if (!variable) return true;
  }
  return false;
}

void add(const QuietWorld& world, const std::string& path, bool table, int depth,
         std::map<std::string, std::string>& found) {
  if (found.size() >= kMostFiles) return;
  struct stat st {};
  if (stat(world.path(path).c_str(), &st) != 0) return;
  if (S_ISDIR(st.st_mode)) {
    for (const std::string& name : world.list(path))
      if (depth > 0 && !name.starts_with('.')) add(world, path + "/" + name, table, depth - 1, found);
    return;
  }
  if (!S_ISREG(st.st_mode)) return;
  auto content = read_file(world.path(path), 8 << 20);
  // What cannot be read counts: it may hold anything.
  if (!content || !table || runs_something(*content)) found[path] = content ? sha256_hex(*content) : "unreadable";
}

// "pid:[4026531836]"; empty when it cannot be seen.
std::string namespace_of(const QuietWorld& world, const std::string& process) {
  char target[64];
  ssize_t length = readlink(world.path("/proc/" + process + "/ns/pid").c_str(), target, sizeof target);
  return length < 0 ? "" : std::string(target, static_cast<size_t>(length));
}

bool is_table(const std::string& folder) {
  return folder == "/etc/cron.d";
}

}  // namespace

std::map<std::string, std::string> find_crontabs(const QuietWorld& world) {
  std::map<std::string, std::string> found;
  for (const char* file : {"/etc/crontab", "/etc/anacrontab"}) add(world, file, true, 0, found);
  for (const std::string& name : world.list("/etc")) {
    // cron.allow and cron.deny are lists of users.
    if (!name.starts_with("cron.") || name == "cron.allow" || name == "cron.deny") continue;
    add(world, "/etc/" + name, is_table("/etc/" + name), 1, found);
  }
  add(world, "/var/spool/cron", true, kDepth, found);
  return found;
}

const std::vector<std::string>& cron_units() {
  static const std::vector<std::string> kUnits = {"cron.service",  "crond.service", "cronie.service", "anacron.service",
                                                  "fcron.service", "bcron.service", "atd.service",    "cron.socket"};
  return kUnits;
}

std::vector<std::string> cron_daemons(const QuietWorld& world, const Units& units) {
  static constexpr std::string_view kNames[] = {"cron", "crond", "anacron", "fcron", "bcron-sched", "atd"};
  std::vector<std::string> daemons;
  if (units.obstacle().empty()) {
    for (const std::string& name : cron_units()) {
      const UnitState& unit = units.of(name);
      if (!unit.error.empty() || !unit.there()) continue;
      if (unit.running()) {
        daemons.push_back(name + " is " + unit.active);
      } else if (unit.file_state.starts_with("enabled") || unit.file_state.starts_with("linked")) {
        daemons.push_back(name + " is " + unit.file_state + " and would start again");
      }
    }
  }
  // Where systemd is not asked, or one was started past it. Those of containers run other crontabs.
  if (!daemons.empty()) return daemons;
  const std::string here = namespace_of(world, "self");
  for (const std::string& pid : world.list("/proc")) {
    if (!parse_int(pid) || namespace_of(world, pid) != here) continue;
    auto name = world.text("/proc/" + pid + "/comm");
    if (name && std::find(std::begin(kNames), std::end(kNames), *name) != std::end(kNames))
      daemons.push_back("process " + pid + " (" + *name + ") runs");
  }
  return daemons;
}

}  // namespace benchctl
