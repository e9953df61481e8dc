// fork and exec of a trial's process, our own: what the child is (session, group, uid, limits, descriptors, signals) is
// what is measured, so every step of it stands here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

struct SpawnOptions {
  std::vector<std::string> argv;         // argv[0] is the path that is executed
  std::vector<std::string> environment;  // "NAME=value", the whole of it
  std::string folder;                    // working directory
  int uid = -1;                          // user and group of the child; -1: as the agent
  std::vector<int> cpus;                 // affinity; empty: unchanged
  std::vector<int> join_fds;             // cgroup.procs files to enter
  int64_t max_processes = 0;             // RLIMIT_NPROC, only with a uid of its own; 0: unchanged
};

// A child that has started. stdout and stderr are our ends of its pipes, not blocking.
struct Spawned {
  pid_t pid = -1;
  UniqueFd pidfd;
  UniqueFd out;
  UniqueFd err;
};

// Error kind kWorkload: exec itself failed ("/x/y: No such file or directory"); other kinds: a step before it failed,
// the error names the step. After an error no child is left.
Result<Spawned> spawn(const SpawnOptions& options);

}  // namespace benchctl
