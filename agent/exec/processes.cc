#include "agent/exec/processes.h"

#include <algorithm>
#include <set>

#include "agent/exec/pseudo_file.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {

bool ProcessInfo::has_uid(int uid) const {
  return std::find(uids.begin(), uids.end(), uid) != uids.end();
}

std::vector<ProcessInfo> list_processes() {
  std::vector<ProcessInfo> found;
  auto names = list_dir("/proc");
  if (!names) return found;
  for (const std::string& name : *names) {
    auto pid = parse_int(name);
    if (!pid) continue;
    auto status = read_pseudo_file("/proc/" + name + "/status", 1 << 20);
    if (!status) continue;  // ended meanwhile
    ProcessInfo info;
    info.pid = static_cast<pid_t>(*pid);
    for (std::string_view line : split(*status, '\n')) {
      if (line.starts_with("State:\t") && line.size() > 7) info.state = line[7];
      if (line.starts_with("PPid:\t")) info.parent = static_cast<pid_t>(parse_int(line.substr(6)).value_or(0));
      if (!line.starts_with("Uid:\t")) continue;
      auto uids = split(line.substr(5), '\t');
      for (size_t i = 0; i < uids.size() && i < info.uids.size(); ++i)
        info.uids[i] = static_cast<int>(parse_int(uids[i]).value_or(-1));
    }
    found.push_back(info);
  }
  return found;
}

std::vector<ProcessInfo> descendants(const std::vector<ProcessInfo>& all, pid_t ancestor) {
  std::set<pid_t> family{ancestor};
  std::vector<ProcessInfo> found;
  for (bool grew = true; grew;) {
    grew = false;
    for (const ProcessInfo& info : all) {
      if (family.count(info.parent) == 0 || !family.insert(info.pid).second) continue;
      found.push_back(info);
      grew = true;
    }
  }
  return found;
}

ProcessIo process_io(pid_t pid) {
  PseudoFile file("/proc/" + std::to_string(pid) + "/io");
  std::string_view text = file.read();
  return {keyed_number(text, "read_bytes:"), keyed_number(text, "write_bytes:")};
}

}  // namespace benchctl
