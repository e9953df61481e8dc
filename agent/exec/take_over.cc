#include "agent/exec/take_over.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kMaxNames = 4096;

std::vector<std::string> names_in(UniqueFd folder) {
  std::vector<std::string> names;
  DIR* dir = fdopendir(folder.get());
  if (dir == nullptr) return names;
  folder.release();
  while (dirent* entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
    if (names.size() >= kMaxNames) break;
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

// Why this file is not taken; "" when it is.
std::string objection(const struct stat& st, const std::string& name, int uid) {
  if (!safe_relative_path(name)) return "not a plain name";
  if (!S_ISREG(st.st_mode)) return "not a regular file";
  if (static_cast<int>(st.st_uid) != uid) return "not owned by the trial";
  if (st.st_nlink != 1) return "has other names (hard links)";
  if (st.st_size > kMaxOutBytes) return "larger than " + format_bytes(kMaxOutBytes);
  return "";
}

Status copy_file(int from, int64_t size, int folder, const std::string& name) {
  UniqueFd to(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!to) return errno_error("create out/" + sanitize(name, 200));
  char buffer[65536];
  while (size > 0) {
    ssize_t count = read(from, buffer, static_cast<size_t>(std::min<int64_t>(size, sizeof buffer)));
    if (count <= 0) break;
    if (auto written = write_all(to.get(), {buffer, static_cast<size_t>(count)}); !written)
      return written.error().in("out/" + sanitize(name, 200));
    size -= count;
  }
  return {};
}

}  // namespace

Result<TakenOver> take_over_out(int scratch_fd, const std::string& name, int trial_fd, int uid) {
  TakenOver result;
  constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd from(openat(scratch_fd, name.c_str(), kFolder));
  struct stat st {};
  if (!from || fstat(from.get(), &st) != 0 || static_cast<int>(st.st_uid) != uid) {
    result.refused.push_back(name + ": the folder was replaced or removed");
    return result;
  }
  UniqueFd into;
  for (const std::string& file : names_in(UniqueFd(fcntl(from.get(), F_DUPFD_CLOEXEC, 0)))) {
    std::string reason;
    UniqueFd fd;
    if (result.files >= kMaxOutFiles) {
      reason = "more than " + std::to_string(kMaxOutFiles) + " files";
    } else {
      fd.reset(openat(from.get(), file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      if (!fd) {
        reason = errno == ELOOP ? "a symbolic link" : "cannot be opened";
      } else if (fstat(fd.get(), &st) != 0) {
        reason = "cannot be read";
      } else {
        reason = objection(st, file, uid);
      }
    }
    if (!reason.empty()) {
      result.refused.push_back(sanitize(file, 200) + ": " + reason);
      continue;
    }
    if (!into) {
      if (mkdirat(trial_fd, "out", 0700) != 0 && errno != EEXIST) return errno_error("create out");
      into.reset(openat(trial_fd, "out", kFolder));
      if (!into) return errno_error("open out");
    }
    BENCHCTL_CHECK(copy_file(fd.get(), st.st_size, into.get(), file));
    ++result.files;
  }
  return result;
}

}  // namespace benchctl
