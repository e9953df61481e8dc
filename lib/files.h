// Files by descriptor, with caps and durability stated. Error messages name the path and the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace benchctl {

// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// "open /x/y: No such file or directory", from errno.
Error errno_error(std::string_view what, ErrorKind kind = ErrorKind::kInternal);

// A regular file's whole content; more than `limit` bytes is an error, never a cut. Follows links: not for paths that a
// trial or a machine could have planted (see open_beneath).
Result<std::string> read_file(const std::string& path, int64_t limit = 64 << 20);
// For /proc and /sys: reads until end of file whatever stat says; nullopt-like empty error when absent.
Result<std::string> read_pseudo_file(const std::string& path, int64_t limit = 4 << 20);

// New content or old content, never half: temporary file beside it, fsync, rename, fsync of the folder. The modes here
// are exact: the umask does not count.
Status write_atomic(const std::string& path, std::string_view content, int mode = 0600);
Status write_all(int fd, std::string_view bytes);
Status make_dirs(const std::string& path, int mode = 0700);
// Absent is success. Never follows a link (a link itself is removed) nor enters a mount point, which is an error.
Status remove_tree(const std::string& path);
Status sync_dir(const std::string& path);

// Opens `relative` below the folder `dirfd` without following any link or leaving it (openat2 RESOLVE_BENEATH |
// RESOLVE_NO_SYMLINKS), adding O_CLOEXEC; regular files and folders only.
Result<UniqueFd> open_beneath(int dirfd, const std::string& relative, int flags, int mode = 0600);
Result<UniqueFd> open_dir(const std::string& path);

// A relative path that is safe to create below a private folder: no absolute path, no empty, "." or ".." part, no
// control character or backslash, at most 16 parts and 1,024 bytes.
bool safe_relative_path(std::string_view path);

bool exists(const std::string& path);
Result<std::vector<std::string>> list_dir(const std::string& path);  // names, sorted, without . and ..
Result<int64_t> free_bytes(const std::string& path);

// A whole-file lock (flock) with its holder's words inside. Held until destroyed.
class FileLock {
 public:
  // Takes the lock at once or fails, kInterrupted, with "held by <what the holder wrote>".
  static Result<FileLock> take(const std::string& path, const std::string& holder);
  // The same on a file that the caller has opened for reading and writing; `path` is for messages.
  static Result<FileLock> take_open(UniqueFd fd, const std::string& path, const std::string& holder);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace benchctl
