#include "controller/cli/detached.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "lib/argv.h"

namespace benchctl {

pid_t start_detached(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                     const std::string& log) {
  // Made before the fork: other threads may hold the allocator's lock in it.
  std::vector<char*> argv = pointers(words), entries = pointers(environment);
  pid_t child = fork();
  if (child != 0) return child;
  setsid();
  signal(SIGHUP, SIG_IGN);
  int null = open("/dev/null", O_RDWR);
  int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  dup2(null, STDIN_FILENO);
  dup2(out >= 0 ? out : null, STDOUT_FILENO);
  dup2(out >= 0 ? out : null, STDERR_FILENO);
  close_range(3, ~0U, 0);
  execve("/proc/self/exe", argv.data(), entries.data());
  _exit(127);
}

}  // namespace benchctl
