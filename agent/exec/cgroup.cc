#include "agent/exec/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "agent/exec/pseudo_file.h"
#include "lib/text.h"

namespace benchctl {
namespace {

bool has_word(std::string_view list, std::string_view word, char separator) {
  auto words = split(list, separator);
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
}

bool write_file(const std::string& path, std::string_view text) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return fd && write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::string read_text(const std::string& path) {
  auto text = read_pseudo_file(path);
  return text ? *text : "";
}

std::vector<pid_t> read_pids(const std::string& folder) {
  std::vector<pid_t> pids;
  for (std::string_view line : split(read_text(folder + "/cgroup.procs"), '\n'))
    if (auto pid = parse_int(line); pid && *pid > 0) pids.push_back(static_cast<pid_t>(*pid));
  return pids;
}

void kill_members(const std::string& folder, const CgroupPlace& place) {
  if (place.v2 && write_file(folder + "/cgroup.kill", "1")) return;  // since Linux 5.14
  // Frozen processes cannot fork between the reading and the killing. SIGKILL takes effect at once in version 2, and
  // when they thaw in version 1.
  bool freezer = !place.v2 && has_word(place.controllers, "freezer", ',');
  if (place.v2) write_file(folder + "/cgroup.freeze", "1");
  if (freezer) write_file(folder + "/freezer.state", "FROZEN");
  for (pid_t pid : read_pids(folder)) ::kill(pid, SIGKILL);
  if (place.v2) write_file(folder + "/cgroup.freeze", "0");
  if (freezer) write_file(folder + "/freezer.state", "THAWED");
}

// rmdir fails with EBUSY for a moment while the last member is being taken out.
void remove_group(const std::string& folder) {
  for (int i = 0; i < 100 && rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i) usleep(5'000);
}

// Whether a process can really enter a group here: read-only mounts, missing delegation and version 2's domain rules
// all show only then.
bool place_works(const CgroupPlace& place) {
  std::string folder = place.folder + "/benchctl-probe-" + std::to_string(getpid());
  if (mkdir(folder.c_str(), 0755) != 0) return false;
  UniqueFd join(open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  bool works = false;
  if (join) {
    pid_t child = fork();
    if (child == 0) _exit(write(join.get(), "0", 1) == 1 ? 0 : 1);
    int status = 1;
    works = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  }
  remove_group(folder);
  return works;
}

// Controllers that children of a version 2 folder may use, after asking for the ones wanted.
std::string enable_v2(const std::string& folder) {
  for (const char* controller : {"+memory", "+pids"}) write_file(folder + "/cgroup.subtree_control", controller);
  std::string enabled(trim(read_text(folder + "/cgroup.subtree_control")));
  std::replace(enabled.begin(), enabled.end(), ' ', ',');
  return enabled;
}

}  // namespace

std::vector<CgroupPlace> cgroup_places(std::string_view mountinfo, std::string_view self_cgroup) {
  std::vector<CgroupPlace> places;
  std::set<std::string> seen;
  for (std::string_view line : split(mountinfo, '\n')) {
    size_t dash = line.find(" - ");
    auto left = split(line.substr(0, dash), ' ');
    if (dash == std::string_view::npos || left.size() < 5) continue;
    auto right = split(line.substr(dash + 3), ' ');
    if (right.size() < 3 || (right[0] != "cgroup" && right[0] != "cgroup2")) continue;
    CgroupPlace place;
    place.v2 = right[0] == "cgroup2";
    place.mount = left[4];
    std::string root(left[3]);
    for (std::string_view entry : split(self_cgroup, '\n')) {
      size_t first = entry.find(':'), second = entry.find(':', first + 1);
      if (first == std::string_view::npos || second == std::string_view::npos) continue;
      std::string_view names = entry.substr(first + 1, second - first - 1);
      std::string_view path = entry.substr(second + 1);
      if (place.v2 != names.empty()) continue;
      auto name_list = split(names, ',');
      if (!place.v2 && !std::all_of(name_list.begin(), name_list.end(),
                                    [&](std::string_view name) { return has_word(right[2], name, ','); }))
        continue;
      place.controllers = names;
      // The mount may show only a part of the hierarchy (a container): our path is then below its root, or it is told
      // from elsewhere and the mount itself is all that we can see.
      if (root != "/") path = is_below(path, root) ? path.substr(root.size()) : "";
      if (path.find("..") != std::string_view::npos) path = "";
      place.folder = place.mount + (path == "/" ? "" : std::string(path));
      if (seen.insert(place.mount).second) places.push_back(place);
      break;
    }
  }
  return places;
}

void CgroupHost::watch_throttling(const CgroupPlace& place) {
  for (std::string folder = place.folder; folder.size() >= place.mount.size(); folder.resize(folder.rfind('/'))) {
    if (benchctl::exists(folder + "/cpu.stat")) cpu_stats_.push_back(folder + "/cpu.stat");
    if (folder == place.mount) break;
  }
}

CgroupHost CgroupHost::detect(const std::string& root) {
  CgroupHost host;
  for (CgroupPlace place :
       cgroup_places(read_text(root + "/proc/self/mountinfo"), read_text(root + "/proc/self/cgroup"))) {
    place.mount = root + place.mount;
    place.folder = root + place.folder;
    if (place.v2) {
      // A folder that holds processes cannot give its children controllers; the top one can, and root may use it.
      CgroupPlace top = place;
      top.folder = place.mount;
      bool on_top = geteuid() == 0 && place_works(top);
      if (on_top) place = top;
      host.watch_throttling(place);
      if (!on_top && !place_works(place)) continue;
      place.controllers = enable_v2(place.folder);
      host.places_.push_back(place);
      continue;
    }
    if (has_word(place.controllers, "cpu", ',')) host.watch_throttling(place);
    bool wanted = has_word(place.controllers, "freezer", ',') || has_word(place.controllers, "pids", ',') ||
                  has_word(place.controllers, "memory", ',') || has_word(place.controllers, "name=systemd", ',');
    if (wanted && place_works(place)) host.places_.push_back(place);
  }
  return host;
}

void CgroupHost::remove_leftovers(const std::string& prefix) const {
  for (const CgroupPlace& place : places_) {
    auto names = list_dir(place.folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (!name.starts_with(prefix)) continue;
      std::string folder = place.folder + "/" + name;
      for (int i = 0; i < 200 && !read_pids(folder).empty(); ++i) {
        kill_members(folder, place);
        usleep(5'000);
      }
      remove_group(folder);
    }
  }
}

int64_t CgroupHost::throttled() const {
  int64_t sum = 0;
  for (const std::string& path : cpu_stats_) sum += keyed_number(read_text(path), "nr_throttled");
  return sum;
}

TrialCgroup::TrialCgroup(const CgroupHost& host, const std::string& name, const CgroupLimits& limits) {
  std::set<std::string> held;
  for (const CgroupPlace& place : host.places()) {
    std::string path = place.folder + "/" + name;
    if (mkdir(path.c_str(), 0755) != 0) continue;
    UniqueFd join(open((path + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!join) {
      rmdir(path.c_str());
      continue;
    }
    join_.push_back(std::move(join));
    folders_.push_back({path, place});
    if (has_word(place.controllers, "pids", ',') && limits.max_pids > 0 &&
        write_file(path + "/pids.max", std::to_string(limits.max_pids)))
      held.insert("pids");
    if (has_word(place.controllers, "memory", ',')) {
      std::string bytes = std::to_string(limits.memory_bytes);
      if (limits.memory_bytes > 0 && place.v2) {
        memory_limited_ = write_file(path + "/memory.max", bytes);
        write_file(path + "/memory.swap.max", "0");
        write_file(path + "/memory.oom.group", "1");
      } else if (limits.memory_bytes > 0) {
        memory_limited_ = write_file(path + "/memory.limit_in_bytes", bytes);
        write_file(path + "/memory.memsw.limit_in_bytes", bytes);
      }
      held.insert("memory");
    }
    if (has_word(place.controllers, "freezer", ',')) held.insert("freezer");
  }
  for (const std::string& controller : held) held_ += (held_.empty() ? "" : ", ") + controller;
}

TrialCgroup::~TrialCgroup() {
  join_.clear();
  for (const Folder& folder : folders_) remove_group(folder.path);
}

std::vector<pid_t> TrialCgroup::members() const {
  std::set<pid_t> pids;
  for (const Folder& folder : folders_)
    for (pid_t pid : read_pids(folder.path)) pids.insert(pid);
  return {pids.begin(), pids.end()};
}

void TrialCgroup::kill() const {
  for (const Folder& folder : folders_) kill_members(folder.path, folder.place);
}

int64_t TrialCgroup::oom_kills() const {
  int64_t kills = 0;
  for (const Folder& folder : folders_) {
    if (!has_word(folder.place.controllers, "memory", ',')) continue;
    kills +=
        keyed_number(read_text(folder.path + (folder.place.v2 ? "/memory.events" : "/memory.oom_control")), "oom_kill");
  }
  return kills;
}

std::string TrialCgroup::description() const {
  if (!exists()) return "";
  bool v1 = false, v2 = false;
  for (const Folder& folder : folders_) (folder.place.v2 ? v2 : v1) = true;
  std::string text = v1 && v2 ? "cgroup v1 and v2" : v2 ? "cgroup v2" : "cgroup v1";
  return held_.empty() ? text : text + " (" + held_ + ")";
}

}  // namespace benchctl
