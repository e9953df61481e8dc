#include "agent/facts/tool.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "lib/argv.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr const char* kFolders[] = {"/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/bin", "/usr/local/sbin"};

Error problem(std::string what) {
  return Error{ErrorKind::kInternal, std::move(what)};
}

std::string find_tool(const std::string& name) {
  if (name.starts_with('/')) return access(name.c_str(), X_OK) == 0 ? name : "";
  for (const char* folder : kFolders) {
    std::string path = std::string(folder) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

// posix_spawn with stdout into `out`; the child has a group of its own and default signals.
Result<pid_t> spawn(const std::string& path, const std::vector<std::string>& argv, int out, bool errors_too) {
  const char* environment[] = {
      "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "TERM=dumb", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=",
      nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  if (errors_too) {
    posix_spawn_file_actions_adddup2(&actions, out, 2);
  } else {
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  int error = posix_spawn(&pid, path.c_str(), &actions, &attributes, pointers(argv).data(),
                          const_cast<char* const*>(environment));
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return problem(std::string("cannot start: ") + std::strerror(error));
  return pid;
}

}  // namespace

Result<ToolEnd> run_tool(const std::vector<std::string>& argv, const ToolLimits& limits, bool errors_too,
                         Clock& clock) {
  std::string path = argv.empty() ? "" : find_tool(argv[0]);
  if (path.empty()) return problem("not installed");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno_error("pipe");
  UniqueFd in(ends[0]), out(ends[1]);
  BENCHCTL_TRY(pid_t pid, spawn(path, argv, out.get(), errors_too));
  out.reset();

  const Deadline deadline = Deadline::in(clock, limits.time);
  std::string printed, why;
  char buffer[65536];
  while (why.empty()) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline.left(clock)).count();
    pollfd wait{in.get(), POLLIN, 0};
    int ready = poll(&wait, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      why = "no answer within " + format_seconds(static_cast<double>(limits.time.count()) / 1e9);
      break;
    }
    ssize_t count = read(in.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    printed.append(buffer, static_cast<size_t>(count));
    if (static_cast<int64_t>(printed.size()) > limits.output_bytes)
      why = "printed more than " + format_bytes(limits.output_bytes);
  }
  // It may have closed stdout and live on: the same deadline holds, then the whole group is ended.
  int status = 0;
  pid_t ended = 0;
  while (why.empty() && (ended = waitpid(pid, &status, WNOHANG)) == 0) {
    if (deadline.passed(clock)) why = "did not end after closing its output";
    clock.sleep(std::chrono::milliseconds(2));
  }
  if (ended == 0) {
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  if (!why.empty()) return problem(why);
  if (WIFSIGNALED(status)) return problem("killed by signal " + std::to_string(WTERMSIG(status)));
  return ToolEnd{WEXITSTATUS(status), std::move(printed)};
}

Result<std::string> SystemTools::run(const std::vector<std::string>& argv) {
  BENCHCTL_TRY(ToolEnd end, run_tool(argv, limits_, false, clock_));
  if (end.output.empty() && end.exit_code != 0) return problem("exit " + std::to_string(end.exit_code));
  return std::move(end.output);
}

}  // namespace benchctl
