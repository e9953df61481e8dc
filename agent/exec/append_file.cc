#include "agent/exec/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace benchctl {
namespace {

// The size up to and with the last line feed.
Result<int64_t> whole_lines(int fd, int64_t size, const std::string& name) {
  char block[4096];
  while (size > 0) {
    int64_t begin = size > static_cast<int64_t>(sizeof block) ? size - static_cast<int64_t>(sizeof block) : 0;
    ssize_t count = pread(fd, block, static_cast<size_t>(size - begin), begin);
    if (count < 0) return errno_error("read " + name);
    if (count == 0) return Error{ErrorKind::kInternal, name + ": became shorter while it was read"};
    for (ssize_t i = count; i > 0; --i)
      if (block[i - 1] == '\n') return begin + i;
    size = begin;
  }
  return int64_t{0};
}

}  // namespace

Result<AppendFile> AppendFile::open(const RunFolder& folder, const std::string& name, std::string_view header) {
  UniqueFd fd(openat(folder.fd(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat st {};
  if (!fd || fstat(fd.get(), &st) != 0) return errno_error("open " + name);
  if (!S_ISREG(st.st_mode)) return Error{ErrorKind::kInternal, name + ": not a regular file"};
  BENCHCTL_TRY(int64_t size, whole_lines(fd.get(), st.st_size, name));
  if (size != st.st_size && ftruncate(fd.get(), size) != 0) return errno_error("truncate " + name);
  AppendFile file(std::move(fd), name, size);
  if (size == 0 && !header.empty()) BENCHCTL_CHECK(file.append(header, false));
  return file;
}

Status AppendFile::append(std::string_view text, bool sync) {
  if (lseek(fd_.get(), size_, SEEK_SET) < 0) return errno_error("seek " + name_);
  Status written = write_all(fd_.get(), text);
  if (written && sync && fdatasync(fd_.get()) != 0) written = errno_error("fsync");
  if (!written) {
    if (ftruncate(fd_.get(), size_) != 0) return errno_error("truncate " + name_);
    return written.error().in(name_);
  }
  size_ += static_cast<int64_t>(text.size());
  return {};
}

Status Ballast::reserve() {
  UniqueFd fd(open(path_.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return errno_error("create " + path_);
  int error = posix_fallocate(fd.get(), 0, kBytes);
  if (error == 0) return {};
  errno = error;
  Error failed = errno_error("reserve " + path_);
  release();
  return failed;
}

void Ballast::release() {
  unlink(path_.c_str());
}

}  // namespace benchctl
