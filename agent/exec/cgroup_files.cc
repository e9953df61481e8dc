#include "agent/exec/cgroup_files.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/exec/pseudo_file.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {

bool CgroupPlace::has(std::string_view controller) const {
  auto words = split(controllers, ',');
  return std::find(words.begin(), words.end(), controller) != words.end();
}

std::string cgroup_text(const std::string& path) {
  auto text = read_pseudo_file(path);
  return text ? *text : "";
}

bool write_cgroup(const std::string& path, std::string_view text) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::vector<pid_t> cgroup_members(const std::string& folder) {
  std::vector<pid_t> pids;
  std::string text = cgroup_text(folder + "/cgroup.procs");  // must outlive the views of its lines
  for (std::string_view line : split(text, '\n'))
    if (auto pid = parse_int(line); pid && *pid > 0) pids.push_back(static_cast<pid_t>(*pid));
  return pids;
}

void kill_cgroup(const std::string& folder, const CgroupPlace& place) {
  if (place.v2 && write_cgroup(folder + "/cgroup.kill", "1")) return;  // since Linux 5.14
  // Frozen processes cannot fork between the reading and the killing. SIGKILL takes effect at once in version 2, and
  // when they thaw in version 1.
  std::string freezer = place.v2 ? "/cgroup.freeze" : "/freezer.state";
  bool freezes = place.v2 || place.has("freezer");
  if (freezes) write_cgroup(folder + freezer, place.v2 ? "1" : "FROZEN");
  for (pid_t pid : cgroup_members(folder)) kill(pid, SIGKILL);
  if (freezes) write_cgroup(folder + freezer, place.v2 ? "0" : "THAWED");
}

void remove_cgroup(const std::string& folder) {
  for (int i = 0; i < 100 && rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i) usleep(5'000);
}

HeldLimits limit_cgroup(const std::string& folder, const CgroupPlace& place, const CgroupLimits& limits) {
  HeldLimits held;
  if (place.has("pids") && limits.max_pids > 0)
    held.pids = write_cgroup(folder + "/pids.max", std::to_string(limits.max_pids));
  if (!place.has("memory") || limits.memory_bytes <= 0) return held;
  std::string bytes = std::to_string(limits.memory_bytes);
  // Swap would let a trial go on beyond its limit, slowly. Its files are absent where the kernel does not account it.
  held.memory = write_cgroup(folder + (place.v2 ? "/memory.max" : "/memory.limit_in_bytes"), bytes);
  write_cgroup(folder + (place.v2 ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"), place.v2 ? "0" : bytes);
  if (place.v2) write_cgroup(folder + "/memory.oom.group", "1");
  return held;
}

int64_t cgroup_oom_kills(const std::string& folder, const CgroupPlace& place) {
  if (!place.has("memory")) return 0;
  return keyed_number(cgroup_text(folder + (place.v2 ? "/memory.events" : "/memory.oom_control")), "oom_kill");
}

std::string enable_controllers(const std::string& folder) {
  // One by one: a controller that is not there must not keep the others away.
  for (const char* controller : {"+memory", "+pids"}) write_cgroup(folder + "/cgroup.subtree_control", controller);
  std::string enabled(trim(cgroup_text(folder + "/cgroup.subtree_control")));
  std::replace(enabled.begin(), enabled.end(), ' ', ',');
  return enabled;
}

}  // namespace benchctl
