// What a user can leave behind without a process: System V IPC, POSIX queues and shared memory, crontabs, at jobs and
// lingering. Found by uid; a finding rejects the machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace benchctl {

// "SysV shm 32769", "/var/spool/cron/crontabs/x"; empty when there is nothing. `root` is "/" but in tests.
std::vector<std::string> find_leftovers(int uid, const std::string& root = "/");

// Ids of the rows of /proc/sysvipc/{shm,sem,msg} that belong to `uid` (columns uid or cuid, found by the header).
std::vector<std::string> sysv_ids(std::string_view table, int uid);

}  // namespace benchctl
