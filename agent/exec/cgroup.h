// Control groups for trials: version 2, version 1 (freezer, pids, memory, named) and mixtures of both, as far as this
// process may make them. Used for containment and for memory and process limits, never for CPU quotas.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/exec/cgroup_files.h"
#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

// Every hierarchy of `mountinfo`, at the place that `self_cgroup` (/proc/self/cgroup) gives. Pure.
std::vector<CgroupPlace> cgroup_places(std::string_view mountinfo, std::string_view self_cgroup);

// The places that work here, found out by making a group in each and moving a child into it.
class CgroupHost {
 public:
  // `root` stands before every path ("" is the running system): tests give a tree of files.
  static CgroupHost detect(const std::string& root = "");
  CgroupHost() = default;

  const std::vector<CgroupPlace>& places() const { return places_; }
  // Ends and removes what an earlier agent left: every group whose name starts with `prefix`.
  void remove_leftovers(const std::string& prefix) const;
  // nr_throttled of the CPU groups that a trial will be in: those of this process in version 1, those above the trial's
  // own in version 2. Only a quota that somebody else has set can raise it.
  int64_t throttled() const;

 private:
  void watch_throttling(const CgroupPlace& place);

  std::vector<CgroupPlace> places_;
  std::vector<std::string> cpu_stats_;  // files
};

// One trial's group, a folder in each hierarchy. Removed when destroyed (its processes must have ended).
class TrialCgroup {
 public:
  TrialCgroup(const CgroupHost& host, const std::string& name, const CgroupLimits& limits);
  ~TrialCgroup();
  TrialCgroup(const TrialCgroup&) = delete;
  TrialCgroup& operator=(const TrialCgroup&) = delete;

  bool exists() const { return !folders_.empty(); }
  bool limits_memory() const { return memory_limited_; }
  const std::vector<UniqueFd>& join_fds() const { return join_; }  // a child writes "0" to each
  std::vector<pid_t> members() const;
  void kill() const;  // every member, at once: cgroup.kill, or frozen, killed and thawed
  int64_t oom_kills() const;
  std::string description() const;  // "cgroup v2 (memory, pids)", "" when there is none

 private:
  struct Folder {
    std::string path;
    CgroupPlace place;
  };
  std::vector<Folder> folders_;
  std::vector<UniqueFd> join_;
  std::string held_;  // controllers that are at work
  bool memory_limited_ = false;
};

}  // namespace benchctl
