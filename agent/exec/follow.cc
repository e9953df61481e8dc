// `benchagent events`: event lines from a number on, and what comes after them, without polling.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/exec/commands.h"
#include "agent/exec/run_folder.h"
#include "lib/clock.h"
#include "lib/files.h"
#include "lib/text.h"
#include "lib/wire/event.h"

namespace benchctl {
namespace {

// A runner that was started a moment before may not have its lock yet.
constexpr Nanos kStartTime = std::chrono::seconds(3);

class Follower {
 public:
  Follower(const RunFolder& folder, int64_t from) : folder_(folder), from_(from) {}

  // Prints what is there now. Only whole lines are events.
  Status print_new() {
    if (!file_) file_.reset(openat(folder_.fd(), "events.jsonl", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file_) return errno == ENOENT ? Status() : errno_error("open " + folder_.file("events.jsonl"));
    char buffer[65536];
    std::string out;
    while (true) {
      ssize_t count = pread(file_.get(), buffer, sizeof buffer, offset_);
      if (count < 0) return errno_error("read " + folder_.file("events.jsonl"));
      if (count == 0) break;
      offset_ += count;
      held_.append(buffer, static_cast<size_t>(count));
      for (size_t end; (end = held_.find('\n')) != std::string::npos; held_.erase(0, end + 1)) {
        auto event = parse_event(std::string_view(held_).substr(0, end));
        if (!event) return event.error().in(folder_.file("events.jsonl"));
        done_ = done_ || event->kind == "run_done";
        if (event->number >= from_) out += held_.substr(0, end + 1);
      }
    }
    return write_all(1, out);
  }
  bool done() const { return done_; }

 private:
  const RunFolder& folder_;
  int64_t from_;
  UniqueFd file_;
  off_t offset_ = 0;
  std::string held_;
  bool done_ = false;
};

// The runner's process, by what its lock says. `nobody`: there is none; old kernels and emulators cannot tell.
UniqueFd runner_of(const RunFolder& folder, bool& nobody) {
  auto holder = read_file(folder.file("run.lock"), 4096);
  auto pid =
      holder && holder->starts_with("pid ") ? parse_int(trim(std::string_view(*holder).substr(4))) : std::nullopt;
  nobody = !pid || *pid <= 1;
  if (nobody) return UniqueFd();
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(*pid), 0)));
  nobody = !fd && errno == ESRCH;
  return fd;
}

}  // namespace

Status print_events(const std::string& dir, int64_t from, int64_t follow_s) {
  BENCHCTL_TRY(RunFolder folder, RunFolder::open(dir));
  Follower follower(folder, from);
  if (follow_s <= 0) return follower.print_new();
  // Tells the runner that somebody is there to pull rounds; goes with this process.
  UniqueFd lock(open(folder.file("follow.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock || flock(lock.get(), LOCK_SH) != 0) return errno_error("lock " + folder.file("follow.lock"));
  UniqueFd watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  // The folder, not the file: it may not exist yet.
  if (!watch || inotify_add_watch(watch.get(), folder.path().c_str(), IN_MODIFY | IN_CREATE) < 0)
    return errno_error("inotify on " + folder.path());
  SystemClock clock;
  Deadline deadline = Deadline::in(clock, std::chrono::seconds(follow_s));
  UniqueFd runner;
  Deadline starting = Deadline::in(clock, kStartTime);
  for (bool runner_ended = false;;) {
    BENCHCTL_CHECK(follower.print_new());
    // A runner that is gone says nothing more: whoever follows wants to know now, not when the time is over.
    if (follower.done() || runner_ended || deadline.passed(clock)) return {};
    bool nobody = false;
    if (!runner) runner = runner_of(folder, nobody);
    if (nobody && starting.passed(clock)) return {};
    // stdout is watched for its reader going away: a dead connection must not hold the follow lock.
    pollfd fds[] = {{watch.get(), POLLIN, 0}, {1, 0, 0}, {runner.get(), POLLIN, 0}};
    Nanos left = nobody ? std::min(deadline.left(clock), starting.left(clock)) : deadline.left(clock);
    int64_t left_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    poll(fds, 3, static_cast<int>(std::min<int64_t>(left_ms, 3'600'000)));
    if ((fds[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return {};
    runner_ended = fds[2].revents != 0;
    char buffer[4096];
    while (read(watch.get(), buffer, sizeof buffer) > 0) {
    }
  }
}

}  // namespace benchctl
