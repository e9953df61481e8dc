#include "agent/exec/leftovers.h"

#include <sys/stat.h>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Folders whose entries act or occupy memory later.
constexpr const char* kPlaces[] = {"dev/mqueue",
                                   "dev/shm",
                                   "var/spool/cron/crontabs",
                                   "var/spool/cron",
                                   "var/spool/at",
                                   "var/spool/cron/atjobs",
                                   "var/spool/atjobs",
                                   "var/lib/systemd/linger"};
constexpr size_t kMaxNamed = 16;

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> list;
  for (std::string_view word : split(line, ' '))
    if (!word.empty()) list.push_back(word);
  return list;
}

}  // namespace

std::vector<std::string> sysv_ids(std::string_view table, int uid) {
  std::vector<std::string> ids;
  auto lines = split(table, '\n');
  auto header = words(lines[0]);
  size_t id = header.size();
  std::vector<size_t> owners;
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] == "uid" || header[i] == "cuid") owners.push_back(i);
    if (header[i] == "shmid" || header[i] == "semid" || header[i] == "msqid") id = i;
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    auto row = words(lines[i]);
    if (row.size() < header.size() || id >= row.size()) continue;
    for (size_t owner : owners) {
      if (parse_int(row[owner]).value_or(-1) != uid) continue;
      ids.emplace_back(row[id]);
      break;
    }
  }
  return ids;
}

std::vector<std::string> find_leftovers(int uid, const std::string& root) {
  std::vector<std::string> found;
  for (const char* kind : {"shm", "sem", "msg"}) {
    auto table = read_pseudo_file(root + "proc/sysvipc/" + kind);
    if (!table) continue;
    for (const std::string& id : sysv_ids(*table, uid)) found.push_back(std::string("SysV ") + kind + " " + id);
  }
  for (const char* place : kPlaces) {
    auto names = list_dir(root + place);
    if (!names) continue;
    for (const std::string& name : *names) {
      std::string path = root + place + "/" + name;
      struct stat st {};
      bool owned = lstat(path.c_str(), &st) == 0 && static_cast<int>(st.st_uid) == uid && !S_ISDIR(st.st_mode);
      if (owned || name == std::to_string(uid)) found.push_back(sanitize(path, 200));
    }
  }
  if (found.size() > kMaxNamed) found.resize(kMaxNamed);
  return found;
}

}  // namespace benchctl
