#include "provisioning/providers/host_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace benchctl {
namespace {

// In a sticky folder, where others can have put anything under our name: only a regular file with one name will do, and
// it is never opened with O_CREAT once it is there (which the kernel would refuse for another user's file).
Result<UniqueFd> open_shared(const std::string& path) {
  for (int turn = 0; turn < 10; ++turn) {
    UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (fd) {
      struct stat st {};
      if (fstat(fd.get(), &st) != 0) return errno_error("stat " + path);
      if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
        return Error{ErrorKind::kInternal, path + ": somebody else's file stands in the place of our lock; remove it"};
      return fd;
    }
    if (errno != ENOENT) return errno_error("open " + path);
    UniqueFd made(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (made) {
      fchmod(made.get(), 0666);  // whatever the umask says: users and root share it
      return made;
    }
    if (errno != EEXIST) return errno_error("create " + path);
  }
  return Error{ErrorKind::kInternal, path + ": comes and goes; is somebody removing it?"};
}

}  // namespace

std::string host_lock_path() {
  for (const char* folder : {"/run/lock", "/var/lock", "/tmp"}) {
    struct stat st {};
    if (stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & (S_ISVTX | 0002)) == (S_ISVTX | 0002))
      return std::string(folder) + "/benchctl-host.lock";
  }
  return "/tmp/benchctl-host.lock";
}

Result<FileLock> take_host_turn(const std::string& holder, Clock& clock, Deadline deadline,
                                const std::function<bool()>& stop, const std::function<void(const std::string&)>& waits,
                                const std::string& path) {
  const std::string words = holder + ", pid " + std::to_string(getpid()) + ", uid " + std::to_string(getuid());
  std::string told;
  while (true) {
    BENCHCTL_TRY(UniqueFd fd, open_shared(path));
    auto lock = FileLock::take_open(std::move(fd), path, words);
    if (lock || lock.error().kind != ErrorKind::kInterrupted) return lock;
    std::string message = "waited for the turn on this computer, " + lock.error().message;
    if (stop && stop()) return Error{ErrorKind::kInterrupted, message};
    if (deadline.passed(clock)) return Error{ErrorKind::kProvisioning, message};
    if (waits && told != lock.error().message) {
      told = lock.error().message;
      waits(told);
    }
    clock.sleep(std::min<Nanos>(std::chrono::milliseconds(200), deadline.left(clock)));
  }
}

}  // namespace benchctl
