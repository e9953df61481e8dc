// All that a trial's phase may have started, and the ending of it: by cgroup, by descent (the agent is a subreaper, so
// orphans fall to it) and by the trial's own uid. A process must escape all three to survive.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "agent/exec/cgroup.h"

namespace benchctl {

class ProcessTree {
 public:
  // `uid` -1: the trial has no user of its own. `cgroup` may hold nothing. `main` is never reaped here.
  ProcessTree(pid_t main, int uid, const TrialCgroup& cgroup) : main_(main), uid_(uid), cgroup_(cgroup) {}

  // SIGKILL to everything that is alive now, the main process too. Remembers whom it hit; returns how many were alive.
  int kill_once();
  // Repeats until nothing is left or `limit_ms` has passed, reaping what falls to the agent.
  void end_all(int64_t limit_ms);
  // Reaps orphans that have ended by themselves; stops at the main process.
  void reap_orphans() const;

  int64_t ended() const { return static_cast<int64_t>(ended_.size()); }  // without the main process
  std::vector<std::string> survivors() const;                            // "1234 (name)"

 private:
  std::set<pid_t> alive() const;

  pid_t main_;
  int uid_;
  const TrialCgroup& cgroup_;
  std::set<pid_t> ended_;
};

// SIGKILL to every process of `uid`, by a child that takes this uid: not even a fork bomb outruns kill(-1).
void kill_user(int uid);

}  // namespace benchctl
