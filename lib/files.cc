#include "lib/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/text.h"

namespace benchctl {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

Error errno_error(std::string_view what, ErrorKind kind) {
  return Error{kind, std::string(what) + ": " + std::strerror(errno)};
}

namespace {

Result<std::string> read_fd(int fd, const std::string& path, int64_t limit) {
  std::string content;
  char buffer[65536];
  while (true) {
    ssize_t count = read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("read " + path);
    if (count == 0) return content;
    content.append(buffer, static_cast<size_t>(count));
    if (static_cast<int64_t>(content.size()) > limit)
      return Error{ErrorKind::kUsage, path + ": larger than the limit of " + format_bytes(limit)};
  }
}

}  // namespace

Result<std::string> read_file(const std::string& path, int64_t limit) {
  // O_NONBLOCK: a FIFO in the place of a file must not hang us.
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return errno_error("open " + path, ErrorKind::kUsage);
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return errno_error("stat " + path);
  if (!S_ISREG(st.st_mode)) return Error{ErrorKind::kUsage, path + ": not a regular file"};
  return read_fd(fd.get(), path, limit);
}

Result<std::string> read_pseudo_file(const std::string& path, int64_t limit) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return errno_error("open " + path);
  return read_fd(fd.get(), path, limit);
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("write");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

Status sync_dir(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno_error("open " + path);
  if (fsync(fd.get()) != 0) return errno_error("fsync " + path);
  return {};
}

Status write_atomic(const std::string& path, std::string_view content, int mode) {
  std::string temporary = path + ".tmp-" + random_hex(6);
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (!fd) return errno_error("create " + temporary);
  auto abandon = [&](Error error) {
    unlink(temporary.c_str());
    return error;
  };
  // The mode is what was asked, whatever the umask.
  if (fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) return abandon(errno_error("chmod " + temporary));
  if (auto written = write_all(fd.get(), content); !written) return abandon(written.error().in(path));
  if (fsync(fd.get()) != 0) return abandon(errno_error("fsync " + temporary));
  if (rename(temporary.c_str(), path.c_str()) != 0) return abandon(errno_error("rename " + temporary));
  size_t slash = path.rfind('/');
  return sync_dir(slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash));
}

Status make_dirs(const std::string& path, int mode) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), static_cast<mode_t>(mode)) == 0) {
      if (chmod(part.c_str(), static_cast<mode_t>(mode)) != 0) return errno_error("chmod " + part);
    } else if (errno != EEXIST) {
      return errno_error("mkdir " + part);
    }
    if (slash == std::string::npos) break;
  }
  struct stat st {};
  if (stat(path.c_str(), &st) != 0) return errno_error("stat " + path);
  if (!S_ISDIR(st.st_mode)) return Error{ErrorKind::kInternal, path + ": not a folder"};
  return {};
}

namespace {

// A folder entry, never through a link or a mount point: a bind mount of the same file system has the same device
// number, so only the kernel can tell.
UniqueFd open_child_dir(int parent, const std::string& name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS;
  UniqueFd child(static_cast<int>(syscall(SYS_openat2, parent, name.c_str(), &how, sizeof how)));
  if (child || errno != ENOSYS) return child;
  // Linux before 5.6, and qemu's user mode: the device number then has to do.
  child.reset(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat here {
  }, there{};
  if (!child || fstat(parent, &here) != 0 || fstat(child.get(), &there) != 0) return child;
  if (here.st_dev == there.st_dev) return child;
  child.reset();
  errno = EXDEV;
  return child;
}

Status remove_children(int parent, const std::string& path, int depth) {
  if (depth > 200) return Error{ErrorKind::kInternal, path + ": nested too deeply to remove"};
  int own = fcntl(parent, F_DUPFD_CLOEXEC, 0);
  DIR* dir = own >= 0 ? fdopendir(own) : nullptr;
  if (dir == nullptr) {
    if (own >= 0) close(own);
    return errno_error("open " + path);
  }
  Status status;
  rewinddir(dir);
  while (dirent* entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) continue;
    Error why_not = errno_error("remove " + path + "/" + name);
    UniqueFd child = open_child_dir(parent, name);
    if (!child) {
      // Not a folder: then the first reason is the one to tell.
      if (errno == EXDEV) why_not.message = "remove " + path + "/" + name + ": something is mounted there";
      status = errno == ENOTDIR || errno == EXDEV ? why_not : errno_error("remove " + path + "/" + name);
    } else if (auto below = remove_children(child.get(), path + "/" + name, depth + 1); !below) {
      status = below;
    } else if (unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) {
      status = errno_error("rmdir " + path + "/" + name);
    }
  }
  closedir(dir);
  return status;
}

}  // namespace

Status remove_tree(const std::string& given) {
  // With a trailing slash the kernel would follow a link.
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  size_t slash = path.rfind('/');
  BENCHCTL_TRY(UniqueFd parent, open_dir(slash == std::string::npos ? "." : path.substr(0, slash + 1)));
  UniqueFd fd = open_child_dir(parent.get(), slash == std::string::npos ? path : path.substr(slash + 1));
  if (!fd && errno == EXDEV) return Error{ErrorKind::kInternal, "remove " + path + ": something is mounted there"};
  if (!fd) return errno_error("remove " + path);
  BENCHCTL_CHECK(remove_children(fd.get(), path, 0));
  if (rmdir(path.c_str()) != 0) return errno_error("rmdir " + path);
  return {};
}

namespace {

// What RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS does, part by part: for Linux before 5.6, and for qemu's user mode.
UniqueFd open_part_by_part(int dirfd, const std::string& relative, int flags, int mode) {
  errno = EXDEV;
  if (relative.starts_with('/')) return {};
  auto parts = split(relative, '/');
  UniqueFd folder;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "..") return UniqueFd();
    bool last = i + 1 == parts.size();
    std::string part(parts[i].empty() ? "." : parts[i]);
    UniqueFd next(openat(folder ? folder.get() : dirfd, part.c_str(),
                         (last ? flags : O_RDONLY | O_DIRECTORY) | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, mode));
    if (!next || last) return next;
    folder = std::move(next);
    errno = EXDEV;
  }
  return {};
}

}  // namespace

Result<UniqueFd> open_beneath(int dirfd, const std::string& relative, int flags, int mode) {
  if (relative.find('\0') != std::string::npos)
    return Error{ErrorKind::kUsage, "open " + sanitize(relative, 200) + ": a zero byte in the path"};
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  how.mode = (flags & O_CREAT) != 0 ? static_cast<uint64_t>(mode) : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, dirfd, relative.c_str(), &how, sizeof how)));
  if (!fd && errno == ENOSYS) fd = open_part_by_part(dirfd, relative, flags, mode);
  if (!fd) return errno_error("open " + relative, ErrorKind::kUsage);
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return errno_error("stat " + relative);
  if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
    return Error{ErrorKind::kUsage, relative + ": neither a regular file nor a folder"};
  return fd;
}

Result<UniqueFd> open_dir(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno_error("open " + path, ErrorKind::kUsage);
  return fd;
}

bool safe_relative_path(std::string_view path) {
  if (path.empty() || path.size() > 1024) return false;
  for (unsigned char c : path)
    if (c < 0x20 || c == 0x7F || c == '\\') return false;
  auto parts = split(path, '/');
  if (parts.size() > 16) return false;
  return std::none_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.empty() || part == "." || part == ".." || part.size() > 255;
  });
}

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

Result<std::vector<std::string>> list_dir(const std::string& path) {
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr) return errno_error("open " + path);
  std::vector<std::string> names;
  while (dirent* entry = readdir(dir)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

Result<int64_t> free_bytes(const std::string& path) {
  struct statvfs st {};
  if (statvfs(path.c_str(), &st) != 0) return errno_error("statvfs " + path);
  return static_cast<int64_t>(st.f_bavail) * static_cast<int64_t>(st.f_frsize);
}

Result<FileLock> FileLock::take(const std::string& path, const std::string& holder) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return errno_error("open " + path);
  return take_open(std::move(fd), path, holder);
}

Result<FileLock> FileLock::take_open(UniqueFd fd, const std::string& path, const std::string& holder) {
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return errno_error("lock " + path);
    char words[512];
    ssize_t count = pread(fd.get(), words, sizeof words, 0);
    std::string_view said = trim({words, count > 0 ? static_cast<size_t>(count) : 0});
    // Empty: the holder has it for an instant only, and is about to write.
    if (said.empty()) said = "a process that did not say its name";
    return Error{ErrorKind::kInterrupted, "held by " + sanitize(said, 400)};
  }
  if (ftruncate(fd.get(), 0) != 0 || pwrite(fd.get(), holder.data(), holder.size(), 0) < 0)
    return errno_error("write " + path);
  return FileLock(std::move(fd));
}

}  // namespace benchctl
