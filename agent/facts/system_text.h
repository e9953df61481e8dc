// Pure parsers of /proc and /etc texts about memory, processes, mounts, limits and sockets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/json.h"

namespace benchctl {

// "MemTotal:  24684084 kB" → bytes by name; lines without "kB" are plain counts ("HugePages_Total: 0").
std::map<std::string, int64_t> parse_meminfo(std::string_view text);

// os-release: KEY=value, quotes and backslashes taken off.
std::map<std::string, std::string> parse_os_release(std::string_view text);

// One line of /proc/<pid>/stat. The name may hold spaces and parentheses: the last ')' ends it.
struct ProcessStat {
  int64_t pid = 0;
  std::string name;
  int64_t cpu_ticks = 0;  // user and system
};
std::optional<ProcessStat> parse_proc_stat(std::string_view text);

struct Mount {
  std::string device;  // "254:0"
  std::string root;    // what of the file system is mounted: "/" or a folder in it
  std::string point;
  std::string filesystem;
  std::string source;
  std::string options;  // of the mount, then of the file system
};
std::vector<Mount> parse_mountinfo(std::string_view text);
// The mount that holds `path` (absolute): the longest point before it, the latest of equal ones.
std::optional<Mount> mount_of(const std::vector<Mount>& mounts, std::string_view path);

struct Socket {
  std::string protocol;  // tcp | tcp6 | udp | udp6
  std::string address;
  int64_t port = 0;
  int64_t inode = 0;
  bool operator==(const Socket&) const = default;
};
// Listening TCP and unconnected UDP sockets of one /proc/net file.
std::vector<Socket> parse_proc_net(std::string_view text, const std::string& protocol);

// Folders of the cgroup of `self_cgroup` (/proc/self/cgroup) that hold the limits of `controller` ("cpu", "memory"),
// the leaf first, then its parents up to the mount point. `version` is 0 when no such hierarchy is mounted.
struct CgroupFolders {
  int version = 0;
  std::vector<std::string> folders;
};
CgroupFolders cgroup_folders(const std::vector<Mount>& mounts, std::string_view self_cgroup,
                             std::string_view controller);

// CPUs by quota: "150000 100000" of cpu.max → 1.5; "max 100000" is nothing.
std::optional<double> parse_cpu_max(std::string_view text);

// `systemctl list-timers --all`, as JSON or as text: [{"unit":…,"activates":…,"next":true|false}, …]; nothing when it
// is neither.
std::optional<Json> parse_timers(std::string_view text);
// `systemctl list-units --type=service`, as JSON or as text without legend: sorted names; nothing when it is neither.
std::optional<std::vector<std::string>> parse_units(std::string_view text);

// AT_PAGESZ of /proc/self/auxv of a 64-bit process of this machine's byte order.
std::optional<int64_t> parse_auxv_page_size(std::string_view bytes);

}  // namespace benchctl
