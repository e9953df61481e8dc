#include "agent/exec/stop_signal.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace benchctl {

Result<StopSignal> StopSignal::install() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  if (sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return errno_error("sigprocmask");
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return errno_error("signalfd");
  return StopSignal(std::move(fd));
}

bool StopSignal::requested() {
  signalfd_siginfo info{};
  if (!requested_ && read(fd_.get(), &info, sizeof info) == sizeof info) requested_ = true;
  return requested_;
}

}  // namespace benchctl
