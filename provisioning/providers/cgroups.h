// The cgroups of a machine on this computer: one folder named by its tag at the top of every hierarchy (v1, v2, or
// both at once). They are the inventory: a process is a machine's if and only if it is in one of them.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/result.h"

namespace benchctl {

struct CgroupHierarchy {
  std::string path;  // where it is mounted
  bool v2 = false;
};

// The hierarchies in the text of /proc/self/mountinfo.
std::vector<CgroupHierarchy> parse_cgroup_mounts(const std::string& mountinfo);

struct CgroupLimits {
  std::string cpus;          // a CPU list; empty: all
  int64_t memory_bytes = 0;  // 0: no limit
  int64_t pids = 16384;
};

class Cgroups {
 public:
  static Result<Cgroups> of_this_computer();
  explicit Cgroups(std::vector<CgroupHierarchy> hierarchies) : hierarchies_(std::move(hierarchies)) {}

  // Makes the folders that are not there yet, limits before use.
  Status make(const std::string& tag, const CgroupLimits& limits) const;
  // Where the processes around a machine go, and where the machine itself goes. On v2 these are two children, because
  // a cgroup that passes controllers on may hold no process itself.
  std::vector<std::string> helper_folders(const std::string& tag) const;
  std::vector<std::string> machine_folders(const std::string& tag) const;

  std::set<int> pids(const std::string& tag) const;  // of all hierarchies and folders below; as our /proc numbers them
  std::set<std::string> tags() const;                // names of the folders that start with "bc-"
  bool is_there(const std::string& tag) const;
  // Kills every process and removes the folders; absent is success. kLeaked when some are left at the deadline.
  Status destroy(const std::string& tag, Clock& clock, Deadline deadline) const;

 private:
  std::vector<CgroupHierarchy> hierarchies_;
};

}  // namespace benchctl
