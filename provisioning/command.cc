// The only file that includes Boost.Process. Version 2 with std::filesystem is header-only in Boost 1.81 (Debian 12)
// and 1.83 (Debian 13, Ubuntu 24.04).
#include "provisioning/command.h"

#if defined(__GNUC__) && \
    !defined(__clang__)  // g++ 12 sees overflows in the launcher's vector of three that are not there
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wrestrict"
#endif
#define BOOST_PROCESS_V2_HEADER_ONLY 1
#define BOOST_PROCESS_USE_STD_FS 1
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>

// Boost 1.81's process headers use these without including them.
#include <boost/optional.hpp>
#include <boost/type_traits/decay.hpp>
#include <boost/type_traits/is_convertible.hpp>

#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/process.hpp>

#include "lib/files.h"
#include "lib/pipe.h"
#include "lib/text.h"

namespace benchctl {
namespace {

namespace asio = boost::asio;
namespace process = boost::process::v2;

// Carried out by the launcher in the child between fork and exec: system calls only.
struct ChildSetup {
  int in, out, err, guard;
  const char* cwd;
  pid_t parent;

  template <typename Launcher>
  process::error_code on_exec_setup(Launcher&, const process::filesystem::path&, const char* const*&) {
    setsid();  // so that the group can be killed whole, and so that Ctrl-C reaches us and not the command
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it died before the line above
    if (guard >= 0 && !guard_group()) return last();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    umask(022);  // ours is narrower, and what they make (images, bundles, reports) is not only for us
    for (int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) signal(number, SIG_DFL);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) return last();
    // The launcher's own closing of descriptors leaves gaps; the mark also spares the pipe that reports a failed exec.
    if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
      for (int fd = 3; fd < 4096; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (*cwd != '\0' && chdir(cwd) != 0) return last();
    return {};
  }
  template <typename Launcher>
  void on_exec_error(Launcher&, const process::filesystem::path&, const char* const*&, const process::error_code&) {
    _exit(127);  // not exit(): that would flush our buffered output a second time
  }
  // A second child that waits for the end of a pipe whose other end we alone hold, and then ends the group that it is
  // in. The death signal above reaches the command only, and not what that has started.
  bool guard_group() const {
    const pid_t pid = _Fork();  // unlike fork() good between fork and exec of a program with threads
    if (pid != 0) return pid > 0;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    dup2(guard, 0);
    // Also the pipe that reports a failed exec, and the copy of the end that is waited for.
    if (syscall(SYS_close_range, 1U, ~0U, 0U) != 0)
      for (int fd = 1; fd < 4096; ++fd) close(fd);
    char byte = 0;
    while (read(0, &byte, 1) < 0 && errno == EINTR) {
    }
    ::kill(0, SIGKILL);
    _exit(0);
  }
  static process::error_code last() { return {errno, boost::system::system_category()}; }
};

// Standard input as an unlinked memory file: no writer to schedule, no SIGPIPE when the command does not read it.
Result<UniqueFd> input_file(const std::string& input) {
  if (input.empty()) {
    UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null) return errno_error("open /dev/null");
    return null;
  }
  UniqueFd fd(memfd_create("input", MFD_CLOEXEC));
  if (!fd) return errno_error("memfd_create");
  BENCHCTL_CHECK(write_all(fd.get(), input));
  if (lseek(fd.get(), 0, SEEK_SET) != 0) return errno_error("lseek");
  return fd;
}

std::string path_of(const std::vector<std::string>& env) {
  for (const auto& entry : env)
    if (entry.rfind("PATH=", 0) == 0) return entry.substr(5);
  return "";
}

// One output stream, read until its end or until the command has ended and nothing is left in the pipe.
struct Stream {
  asio::posix::stream_descriptor descriptor;
  std::function<bool(std::string_view)> take;  // false: enough
  std::array<char, 65536> buffer{};
  bool ending = false;

  Stream(asio::io_context& io, UniqueFd fd, std::function<bool(std::string_view)> taker)
      : descriptor(io, fd.release()), take(std::move(taker)) {
    descriptor.non_blocking(true);
  }
  void read_some() {
    descriptor.async_read_some(asio::buffer(buffer), [this](boost::system::error_code ec, size_t count) {
      if (!ec && !take(std::string_view(buffer.data(), count))) return;
      if (ending) return drain();
      if (!ec) read_some();
    });
  }
  // The command has ended. A read may have been made already, whose handler has yet to run: only behind that one, with
  // its bytes taken, is the rest read, and nothing is waited for any more.
  void end() {
    ending = true;
    boost::system::error_code ec;
    descriptor.cancel(ec);
  }
  // Bounded: a grandchild that writes without end is not waited for.
  void drain() {
    boost::system::error_code ec;
    for (int turn = 0; turn < 64; ++turn) {
      size_t count = descriptor.read_some(asio::buffer(buffer), ec);
      if (ec || count == 0 || !take(std::string_view(buffer.data(), count))) return;
    }
  }
};

}  // namespace

std::vector<std::string> default_environment() {
  auto get = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  // Root's tools are in sbin, which a user's PATH lacks.
  std::string path = get("PATH");
  for (const char* folder : {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"})
    if ((":" + path + ":").find(std::string(":") + folder + ":") == std::string::npos)
      path += (path.empty() ? "" : ":") + std::string(folder);
  std::vector<std::string> env{"PATH=" + path, "LANG=C.UTF-8"};
  for (const char* name : {"HOME", "TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY",
                           "NO_PROXY", "all_proxy", "ALL_PROXY", "PIP_INDEX_URL", "NPM_CONFIG_REGISTRY", "GOPROXY"})
    if (std::string value = get(name); !value.empty()) env.push_back(std::string(name) + "=" + value);
  return env;
}

std::optional<std::string> find_program(const std::string& program, const std::string& path) {
  auto executable = [](const std::string& file) {
    std::error_code ec;
    return access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, ec);
  };
  if (program.find('/') != std::string::npos)
    return executable(program) ? std::optional<std::string>(program) : std::nullopt;
  for (std::string_view folder : split(path, ':'))
    if (std::string file = std::string(folder) + "/" + program; !folder.empty() && executable(file)) return file;
  return std::nullopt;
}

std::optional<std::string> find_program(const std::string& program) {
  return find_program(program, path_of(default_environment()));
}

Result<CommandResult> run_command(const CommandSpec& spec, Clock& clock) {
  if (spec.argv.empty()) return Error{ErrorKind::kInternal, "run a command: it has no name"};
  const std::string name = sanitize(spec.argv[0], 400);
  if (spec.deadline.at <= Nanos{0}) return Error{ErrorKind::kInternal, name + ": run without a deadline"};
  std::vector<std::string> env = spec.env.empty() ? default_environment() : spec.env;
  auto file = find_program(spec.argv[0], path_of(env));
  if (!file) return Error{ErrorKind::kInternal, name + ": no such program in PATH; install it"};

  BENCHCTL_TRY(UniqueFd in, input_file(spec.input));
  BENCHCTL_TRY(Pipe out, make_pipe());
  BENCHCTL_TRY(Pipe err, make_pipe());
  Pipe alive;
  if (spec.whole_group) {
    BENCHCTL_TRY(alive, make_pipe());
  }
  std::vector<const char*> envp;
  for (const auto& entry : env) envp.push_back(entry.c_str());
  envp.push_back(nullptr);
  std::vector<const char*> argv;
  for (const auto& word : spec.argv) argv.push_back(word.c_str());
  argv.push_back(nullptr);

  try {
    asio::io_context io;
    process::posix::default_launcher launcher;
    launcher.env = envp.data();
    process::error_code failed;
    auto spawn = [&] {
      // One at a time: the launcher's report pipe must not leak into a sibling, which would keep it open.
      static std::mutex mutex;
      std::lock_guard<std::mutex> guard(mutex);
      return launcher(
          io.get_executor(), failed, *file, argv.data(),
          ChildSetup{in.get(), out.write.get(), err.write.get(), alive.read.get(), spec.cwd.c_str(), getpid()});
    };
    auto child = spawn();
    if (failed) {
      if (launcher.pid > 0) waitpid(launcher.pid, nullptr, 0);  // the launcher leaves a zombie
      return Error{ErrorKind::kInternal, name + ": cannot be started: " + failed.message()};
    }
    out.write.reset();
    err.write.reset();

    CommandResult result;
    bool ended = false, too_much = false, late = false, stopped = false;
    auto kill_group = [&] { ::kill(-child.id(), SIGKILL); };
    Stream output(io, std::move(out.read), [&](std::string_view bytes) {
      if (spec.on_output) {
        spec.on_output(bytes);
        return true;
      }
      // Once over the cap, always: what is drained after the end may be little enough to fit again.
      too_much = too_much || static_cast<int64_t>(result.output.size() + bytes.size()) > spec.output_cap;
      if (too_much)
        kill_group();
      else
        result.output += bytes;
      return !too_much;
    });
    Stream errors(io, std::move(err.read), [&](std::string_view bytes) {
      if (spec.on_output) spec.on_output(bytes);
      size_t room =
          static_cast<size_t>(spec.error_cap) - std::min(result.errors.size(), static_cast<size_t>(spec.error_cap));
      result.errors += bytes.substr(0, room);
      return true;
    });
    asio::steady_timer timer(io);
    std::function<void()> watch = [&] {
      // Slices, because this timer stands still while the computer is suspended and our clock does not.
      timer.expires_after(std::min<Nanos>(spec.deadline.left(clock), std::chrono::seconds(1)));
      timer.async_wait([&](boost::system::error_code ec) {
        if (ec || ended) return;
        stopped = spec.stop && spec.stop();
        if (!stopped && !spec.deadline.passed(clock)) return watch();
        late = !stopped;
        kill_group();
      });
    };
    int status = 0;
    process::error_code wait_failed;
    child.async_wait([&](process::error_code ec, int) {
      ended = true;
      wait_failed = ec;
      status = child.native_exit_code();
      timer.cancel();
      output.end();
      errors.end();
    });
    output.read_some();
    errors.read_some();
    watch();
    io.run();
    // What is left of it. The guard is in the group, so that its number is nobody else's yet.
    if (spec.whole_group) kill_group();

    if (wait_failed) return Error{ErrorKind::kInternal, name + ": its end was not seen: " + wait_failed.message()};
    if (stopped) return Error{ErrorKind::kInterrupted, name + ": stopped"};
    if (late) return Error{ErrorKind::kInternal, name + ": still running at its deadline, killed"};
    if (too_much)
      return Error{ErrorKind::kInternal, name + ": printed more than " + format_bytes(spec.output_cap) + ", killed"};
    if (WIFSIGNALED(status)) {
      const char* abbreviation = sigabbrev_np(WTERMSIG(status));
      result.signal = abbreviation != nullptr ? abbreviation : std::to_string(WTERMSIG(status));
    } else {
      result.exit_code = WEXITSTATUS(status);
    }
    return result;
  } catch (const std::exception& error) {
    return Error{ErrorKind::kInternal, name + ": " + error.what()};
  }
}

Result<std::string> run_checked(const CommandSpec& spec, Clock& clock) {
  BENCHCTL_TRY(CommandResult result, run_command(spec, clock));
  if (result.ok()) return std::move(result.output);
  std::string_view text = trim(result.errors);
  std::string end = result.signal.empty() ? "exit code " + std::to_string(result.exit_code) : "signal " + result.signal;
  if (!text.empty()) end += ": " + sanitize(trim(text.substr(text.rfind('\n') + 1)), 400);
  return Error{ErrorKind::kInternal, shell_quote(spec.argv) + ": " + end};
}

}  // namespace benchctl
