#include "controller/cli/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

namespace benchctl {
namespace {

int signal_pipe[2] = {-1, -1};

extern "C" void on_signal(int number) {
  int saved = errno;
  char byte = static_cast<char>(number);
  // A full pipe means that the watcher has signals enough.
  [[maybe_unused]] ssize_t written = write(signal_pipe[1], &byte, 1);
  errno = saved;
}

}  // namespace

void watch_signals(StopRequest& stop, std::function<void()> last_words) {
  // Handlers and not a blocked mask: programs that we start inherit a mask, and a machine that never sees SIGTERM
  // cannot be taken down.
  if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  fcntl(signal_pipe[0], F_SETFL, 0);
  std::thread([&stop, last_words = std::move(last_words)] {
    for (int interrupts = 0;;) {
      char byte = 0;
      ssize_t count = read(signal_pipe[0], &byte, 1);
      if (count < 0 && errno == EINTR) continue;
      if (count != 1) return;
      stop.request();
      if (byte != SIGINT || ++interrupts == 1) continue;
      last_words();
      _exit(7);
    }
  }).detach();
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old {};
    // Started by nohup: a hang-up stays ignored.
    if (sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
  // Nobody reads any more, or a file may grow no further (ulimit -f): an error like any other, and no end.
  for (int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);
}

}  // namespace benchctl
