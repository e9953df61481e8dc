// The process table, from /proc.
#pragma once

#include <sys/types.h>

#include <array>
#include <vector>

#include "lib/result.h"

namespace benchctl {

struct ProcessInfo {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';           // Z and X are dead already
  std::array<int, 4> uids{};  // real, effective, saved, file system

  bool alive() const { return state != 'Z' && state != 'X'; }
  bool has_uid(int uid) const;
};

std::vector<ProcessInfo> list_processes();
// Those of `all` that descend from `ancestor`, without itself.
std::vector<ProcessInfo> descendants(const std::vector<ProcessInfo>& all, pid_t ancestor);

struct ProcessIo {
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
};
ProcessIo process_io(pid_t pid);  // works on a zombie too; zeros where /proc/<pid>/io is not readable

}  // namespace benchctl
