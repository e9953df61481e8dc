#include "agent/exec/cgroup.h"

#include <fcntl.h>
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

bool has_word(std::string_view list, std::string_view word) {
  auto words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.starts_with(folder) && path[folder.size()] == '/');
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
  remove_cgroup(folder);
  return works;
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
                                    [&](std::string_view name) { return has_word(right[2], name); }))
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
       cgroup_places(cgroup_text(root + "/proc/self/mountinfo"), cgroup_text(root + "/proc/self/cgroup"))) {
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
      place.controllers = enable_controllers(place.folder);
      host.places_.push_back(place);
      continue;
    }
    if (place.has("cpu")) host.watch_throttling(place);
    bool wanted = place.has("freezer") || place.has("pids") || place.has("memory") || place.has("name=systemd");
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
      for (int i = 0; i < 200 && !cgroup_members(folder).empty(); ++i) {
        kill_cgroup(folder, place);
        usleep(5'000);
      }
      remove_cgroup(folder);
    }
  }
}

int64_t CgroupHost::throttled() const {
  int64_t sum = 0;
  for (const std::string& path : cpu_stats_) sum += keyed_number(cgroup_text(path), "nr_throttled");
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
    HeldLimits limited = limit_cgroup(path, place, limits);
    memory_limited_ = memory_limited_ || limited.memory;
    if (limited.pids) held.insert("pids");
    if (place.has("memory")) held.insert("memory");
    if (place.has("freezer")) held.insert("freezer");
  }
  for (const std::string& controller : held) held_ += (held_.empty() ? "" : ", ") + controller;
}

TrialCgroup::~TrialCgroup() {
  join_.clear();
  for (const Folder& folder : folders_) remove_cgroup(folder.path);
}

std::vector<pid_t> TrialCgroup::members() const {
  std::set<pid_t> pids;
  for (const Folder& folder : folders_)
    for (pid_t pid : cgroup_members(folder.path)) pids.insert(pid);
  return {pids.begin(), pids.end()};
}

void TrialCgroup::kill() const {
  for (const Folder& folder : folders_) kill_cgroup(folder.path, folder.place);
}

int64_t TrialCgroup::oom_kills() const {
  int64_t kills = 0;
  for (const Folder& folder : folders_) kills += cgroup_oom_kills(folder.path, folder.place);
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
