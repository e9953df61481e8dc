// The files of one control group, of both versions: who is in it, ending them, limits and counts. Each function works
// on a folder that exists already, so that a tree of plain files can stand in for a hierarchy.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benchctl {

// A folder of one hierarchy below which trials get their groups.
struct CgroupPlace {
  std::string folder;       // where groups are made
  std::string mount;        // the hierarchy's mount point
  std::string controllers;  // version 1: "freezer", "name=systemd", "cpu,cpuacct" …; version 2: what children can use
  bool v2 = false;

  bool has(std::string_view controller) const;
};

struct CgroupLimits {
  int64_t memory_bytes = 0;  // 0: none
  int64_t max_pids = 0;
};

std::string cgroup_text(const std::string& path);  // "" when absent
bool write_cgroup(const std::string& path, std::string_view text);

std::vector<pid_t> cgroup_members(const std::string& folder);
// SIGKILL to every member: cgroup.kill, or frozen, killed and thawed.
void kill_cgroup(const std::string& folder, const CgroupPlace& place);
// A moment of patience: rmdir fails with EBUSY while the last member is being taken out.
void remove_cgroup(const std::string& folder);

struct HeldLimits {
  bool memory = false, pids = false;
};
HeldLimits limit_cgroup(const std::string& folder, const CgroupPlace& place, const CgroupLimits& limits);

// Processes that the kernel ended for want of memory, whether the group's limit or the machine was used up.
int64_t cgroup_oom_kills(const std::string& folder, const CgroupPlace& place);

// Controllers that children of a version 2 folder may use, after asking for the ones wanted: "cpu,memory,pids".
std::string enable_controllers(const std::string& folder);

}  // namespace benchctl
