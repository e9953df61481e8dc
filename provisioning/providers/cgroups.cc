#include "provisioning/providers/cgroups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// One write(2), as control files want it.
Status write_control(const std::string& path, const std::string& text) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return errno_error("open " + path);
  if (write(fd.get(), text.data(), text.size()) < 0) return errno_error("write '" + text + "' to " + path);
  return {};
}

Status write_if_there(const std::string& path, const std::string& text) {
  return exists(path) ? write_control(path, text) : Status();
}

Status make_folder(const std::string& path) {
  if (mkdir(path.c_str(), 0755) != 0) {
    if (errno != EEXIST) return errno_error("make cgroup " + path);
  } else if (chmod(path.c_str(), 0755) != 0) {  // the machine's own users look into it, whatever our umask
    return errno_error("chmod " + path);
  }
  return {};
}

// Depth first, the folder itself last.
void each_folder(const std::string& path, const std::function<void(const std::string&)>& visit, int depth = 0) {
  auto names = list_dir(path);
  if (names && depth < 32)
    for (const auto& name : *names) {
      struct stat st {};
      std::string child = path + "/" + name;
      if (lstat(child.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) each_folder(child, visit, depth + 1);
    }
  visit(path);
}

}  // namespace

std::vector<CgroupHierarchy> parse_cgroup_mounts(const std::string& mountinfo) {
  std::vector<CgroupHierarchy> found;
  std::set<std::string> devices;
  for (std::string_view line : split(mountinfo, '\n')) {
    // 36 35 0:30 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
    auto words = split(line, ' ');
    auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 7 || dash == words.end() || dash + 1 == words.end()) continue;
    bool v2 = *(dash + 1) == "cgroup2";
    if ((!v2 && *(dash + 1) != "cgroup") || !devices.insert(std::string(words[2])).second) continue;
    found.push_back({std::string(words[4]), v2});
  }
  return found;
}

Result<Cgroups> Cgroups::of_this_computer() {
  BENCHCTL_TRY(std::string mountinfo, read_pseudo_file("/proc/self/mountinfo"));
  auto hierarchies = parse_cgroup_mounts(mountinfo);
  std::erase_if(hierarchies, [](const auto& h) { return !exists(h.path + "/cgroup.procs"); });
  if (hierarchies.empty()) return Error{ErrorKind::kProvisioning, "no cgroup hierarchy is mounted in /sys/fs/cgroup"};
  return Cgroups(std::move(hierarchies));
}

Status Cgroups::make(const std::string& tag, const CgroupLimits& limits) const {
  bool memory_limited = limits.memory_bytes == 0, cpus_limited = limits.cpus.empty();
  for (const auto& hierarchy : hierarchies_) {
    std::string folder = hierarchy.path + "/" + tag;
    BENCHCTL_CHECK(make_folder(folder));
    if (hierarchy.v2) {
      // What the computer cannot pass on shows below, as a limit that could not be set.
      for (const char* controller : {"+cpuset", "+cpu", "+memory", "+pids", "+io"}) {
        (void)write_control(hierarchy.path + "/cgroup.subtree_control", controller);
        (void)write_control(folder + "/cgroup.subtree_control", controller);
      }
      BENCHCTL_CHECK(make_folder(folder + "/helper"));
      BENCHCTL_CHECK(make_folder(folder + "/machine"));
    } else if (exists(folder + "/cpuset.mems")) {
      // A v1 cpuset is born empty and takes no process until both are set.
      BENCHCTL_TRY(std::string cpus, read_pseudo_file(hierarchy.path + "/cpuset.cpus"));
      BENCHCTL_TRY(std::string mems, read_pseudo_file(hierarchy.path + "/cpuset.mems"));
      BENCHCTL_CHECK(write_control(folder + "/cpuset.cpus", std::string(trim(cpus))));
      BENCHCTL_CHECK(write_control(folder + "/cpuset.mems", std::string(trim(mems))));
    }
    if (!limits.cpus.empty() && exists(folder + "/cpuset.cpus")) {
      BENCHCTL_CHECK(write_control(folder + "/cpuset.cpus", limits.cpus));
      cpus_limited = true;
    }
    if (limits.memory_bytes > 0) {
      std::string bytes = std::to_string(limits.memory_bytes);
      for (const char* file : {"/memory.limit_in_bytes", "/memory.max"})
        if (exists(folder + file)) {
          BENCHCTL_CHECK(write_control(folder + file, bytes));
          memory_limited = true;
        }
      // Swap on top would make "1 GiB" mean something else from host to host.
      BENCHCTL_CHECK(write_if_there(folder + "/memory.memsw.limit_in_bytes", bytes));
      BENCHCTL_CHECK(write_if_there(folder + "/memory.swap.max", "0"));
    }
    BENCHCTL_CHECK(write_if_there(folder + "/pids.max", std::to_string(limits.pids)));
  }
  if (!cpus_limited)
    return Error{ErrorKind::kProvisioning,
                 "option cpus: this computer has no cpuset controller to hold a machine to it"};
  if (!memory_limited)
    return Error{ErrorKind::kProvisioning,
                 "option memory: this computer has no memory controller to hold a machine to it"};
  return {};
}

std::vector<std::string> Cgroups::helper_folders(const std::string& tag) const {
  std::vector<std::string> folders;
  for (const auto& h : hierarchies_) folders.push_back(h.path + "/" + tag + (h.v2 ? "/helper" : ""));
  return folders;
}

std::vector<std::string> Cgroups::machine_folders(const std::string& tag) const {
  std::vector<std::string> folders;
  for (const auto& h : hierarchies_) folders.push_back(h.path + "/" + tag + (h.v2 ? "/machine" : ""));
  return folders;
}

std::set<int> Cgroups::pids(const std::string& tag) const {
  std::set<int> found;
  for (const auto& h : hierarchies_)
    each_folder(h.path + "/" + tag, [&](const std::string& folder) {
      auto text = read_pseudo_file(folder + "/cgroup.procs");
      if (!text) return;
      for (std::string_view line : split(*text, '\n'))
        if (auto pid = parse_int(line); pid && *pid > 0) found.insert(static_cast<int>(*pid));
    });
  return found;
}

std::set<std::string> Cgroups::tags() const {
  std::set<std::string> found;
  for (const auto& h : hierarchies_)
    if (auto names = list_dir(h.path))
      for (const auto& name : *names)
        if (name.rfind("bc-", 0) == 0) found.insert(name);
  return found;
}

bool Cgroups::is_there(const std::string& tag) const {
  return std::any_of(hierarchies_.begin(), hierarchies_.end(),
                     [&](const auto& h) { return exists(h.path + "/" + tag); });
}

Status Cgroups::destroy(const std::string& tag, Clock& clock, Deadline deadline) const {
  while (true) {
    // Again and again: between reading and killing, a process can fork.
    for (int pid : pids(tag)) kill(pid, SIGKILL);
    for (const auto& h : hierarchies_)
      each_folder(h.path + "/" + tag, [](const std::string& folder) { rmdir(folder.c_str()); });
    if (!is_there(tag)) return {};
    if (deadline.passed(clock)) break;
    clock.sleep(std::chrono::milliseconds(5));
  }
  std::vector<std::string> left;
  for (int pid : pids(tag)) left.push_back(std::to_string(pid));
  return Error{ErrorKind::kLeaked, "cgroup " + tag + " cannot be emptied; processes left: " +
                                       (left.empty() ? "none that this /proc shows" : join(left, " "))};
}

}  // namespace benchctl
