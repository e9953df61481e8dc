#include "provisioning/ssh/local_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "lib/argv.h"
#include "lib/pipe.h"
#include "lib/text.h"
#include "provisioning/ssh/sigpipe_guard.h"

namespace benchctl {
namespace {

constexpr size_t kPiece = 64 << 10;

std::vector<std::string> login_environment() {
  const passwd* user = getpwuid(getuid());
  std::string home = user != nullptr ? user->pw_dir : "/";
  std::string name = user != nullptr ? user->pw_name : std::to_string(getuid());
  return {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + home, "USER=" + name,
          "LOGNAME=" + name, "LANG=C.UTF-8"};
}

// A started command. Its zombie is kept until the end, so that its process group's number stays its own and the whole
// group can be killed; that happens when this goes out of scope before all_done().
class Child {
 public:
  ~Child() {
    if (pid_ <= 0) return;
    if (!done_) kill(-pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  // 0, or the errno of what could not be executed.
  Result<int> start(const std::vector<std::string>& argv, const std::vector<std::string>& env, const sigset_t& mask) {
    BENCHCTL_TRY(Pipe in, make_pipe());
    BENCHCTL_TRY(Pipe out, make_pipe());
    BENCHCTL_TRY(Pipe err, make_pipe());
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    posix_spawn_file_actions_adddup2(&actions, in.read.get(), 0);
    posix_spawn_file_actions_adddup2(&actions, out.write.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, err.write.get(), 2);
    sigset_t defaults;
    sigfillset(&defaults);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setsigmask(&attributes, &mask);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int code = posix_spawnp(&pid_, argv[0].c_str(), &actions, &attributes, pointers(argv).data(), pointers(env).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (code != 0) {
      pid_ = -1;
      return code;
    }
    pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!pidfd_) return errno_error("pidfd_open");
    input_ = std::move(in.write);
    outputs_[0] = std::move(out.read);
    outputs_[1] = std::move(err.read);
    for (const UniqueFd* fd : {&input_, &outputs_[0], &outputs_[1]}) fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    return 0;
  }

  void learn_end(CommandResult& result) {
    siginfo_t info{};
    while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
    if (info.si_code == CLD_EXITED) {
      result.exit_code = info.si_status;
    } else {
      const char* name = sigabbrev_np(info.si_status);
      result.signal = name != nullptr ? name : "unknown";
    }
    pidfd_.reset();
    input_.reset();
  }

  bool ended() const { return !pidfd_; }
  void all_done() { done_ = true; }
  UniqueFd& pidfd() { return pidfd_; }
  UniqueFd& input() { return input_; }
  UniqueFd& output(int which) { return outputs_[which]; }

 private:
  pid_t pid_ = -1;
  bool done_ = false;
  UniqueFd pidfd_, input_, outputs_[2];
};

class LocalTransport final : public Transport {
 public:
  LocalTransport(Clock& clock, UniqueFd cancel) : clock_(clock), cancel_(std::move(cancel)) {}

  Result<CommandResult> run(const std::vector<std::string>& argv, const RunOptions& options) override {
    std::string what = "this computer: run " + sanitize(shell_quote(argv), 120);
    if (interrupted_) return Error{ErrorKind::kInterrupted, what + ": interrupted"};
    if (argv.empty()) return Error{ErrorKind::kInternal, what + ": no command"};
    for (const std::string& word : argv)
      if (word.find('\0') != std::string::npos) return Error{ErrorKind::kInternal, what + ": a NUL byte in a word"};
    if (options.deadline.passed(clock_))
      return Error{ErrorKind::kProvisioning, what + ": the deadline has passed already"};
    ++channels_;
    SigpipeGuard no_sigpipe;
    Child child;
    auto started = child.start(argv, login_environment(), no_sigpipe.mask_before());
    if (!started) return started.error().in(what);
    CommandResult result;
    if (*started != 0) {
      result.exit_code = *started == ENOENT ? 127 : 126;
      result.errors = sanitize(argv[0]) + ": " + std::strerror(*started) + "\n";
      return result;
    }
    if (auto pumped = pump(child, options, result); !pumped) return pumped.error().in(what);
    return result;
  }

  TransportCounts counts() const override { return {1, channels_, sent_, received_}; }

  void interrupt() override {
    interrupted_ = true;
    eventfd_write(cancel_.get(), 1);
  }

 private:
  Status pump(Child& child, const RunOptions& options, CommandResult& result) {
    std::string piece, buffer(kPiece, '\0');
    size_t offset = 0;
    if (!options.input) child.input().reset();
    while (!child.ended() || child.output(0) || child.output(1)) {
      if (child.input() && offset == piece.size()) {
        BENCHCTL_TRY(piece, options.input());
        offset = 0;
        if (piece.empty()) child.input().reset();
      }
      pollfd fds[] = {{child.output(0).get(), POLLIN, 0},
                      {child.output(1).get(), POLLIN, 0},
                      {child.input().get(), POLLOUT, 0},
                      {child.pidfd().get(), POLLIN, 0},
                      {cancel_.get(), POLLIN, 0}};  // poll passes over closed ones: their fd is -1
      auto left = std::chrono::ceil<std::chrono::milliseconds>(options.deadline.left(clock_)).count();
      if (poll(fds, 5, static_cast<int>(std::min<int64_t>(left, 60'000))) < 0 && errno != EINTR)
        return errno_error("poll");
      if (interrupted_) return Error{ErrorKind::kInterrupted, "interrupted"};
      if (options.deadline.passed(clock_))
        return Error{ErrorKind::kProvisioning, "had not ended at its deadline; killed"};
      for (int which : {0, 1})
        if (fds[which].revents != 0) BENCHCTL_CHECK(receive(child.output(which), which == 1, options, buffer, result));
      if (fds[2].revents != 0) {
        ssize_t count = write(child.input().get(), piece.data() + offset, piece.size() - offset);
        if (count > 0) {
          offset += static_cast<size_t>(count);
          sent_ += count;
        } else if (errno != EAGAIN && errno != EINTR) {
          child.input().reset();  // it reads no more: its exit status will tell
        }
      }
      if (fds[3].revents != 0) child.learn_end(result);
    }
    child.all_done();
    return {};
  }

  Status receive(UniqueFd& fd, bool is_stderr, const RunOptions& options, std::string& buffer, CommandResult& result) {
    ssize_t count = read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (count < 0) return errno_error("read its output");
    if (count == 0) {
      fd.reset();
      return {};
    }
    received_ += count;
    std::string_view bytes(buffer.data(), static_cast<size_t>(count));
    if (is_stderr) {
      int64_t room = options.error_cap - static_cast<int64_t>(result.errors.size());
      result.errors += bytes.substr(0, static_cast<size_t>(std::max<int64_t>(room, 0)));
      return {};
    }
    if (options.on_output) return options.on_output(bytes);
    if (static_cast<int64_t>(result.output.size() + bytes.size()) > options.output_cap)
      return Error{ErrorKind::kProvisioning, "it printed more than " + format_bytes(options.output_cap)};
    result.output += bytes;
    return {};
  }

  Clock& clock_;
  UniqueFd cancel_;
  std::atomic<bool> interrupted_ = false;
  std::atomic<int64_t> channels_ = 0, sent_ = 0, received_ = 0;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_local_transport(Clock& clock) {
  UniqueFd cancel(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!cancel) return errno_error("eventfd");
  return std::unique_ptr<Transport>(std::make_unique<LocalTransport>(clock, std::move(cancel)));
}

Result<std::unique_ptr<Transport>> AnyConnector::connect(const ConnectRequest& request) {
  if (request.endpoint.kind == Endpoint::Kind::kLocal) return make_local_transport(clock_);
  return ssh_.connect(request);
}

}  // namespace benchctl
