#include "provisioning/ssh/watchdog.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

namespace benchctl {

Watchdog::Watchdog(Clock& clock)
    : clock_(clock),
      timer_(timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)),
      stop_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { loop(); }) {}

Watchdog::~Watchdog() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void Watchdog::arm() {
  itimerspec when{};  // all zero: disarmed
  if (!guards_.empty()) {
    // Relative, so that it holds whatever line the clock's points lie on; never zero, which would disarm.
    Nanos left = std::max(guards_.begin()->first - clock_.now(), Nanos(1));
    when.it_value.tv_sec = left.count() / 1'000'000'000;
    when.it_value.tv_nsec = left.count() % 1'000'000'000;
  }
  timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void Watchdog::loop() {
  while (true) {
    pollfd fds[] = {{timer_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return;
    uint64_t count;
    (void)!read(timer_.get(), &count, sizeof count);
    std::lock_guard lock(mutex_);
    while (!guards_.empty() && guards_.begin()->first <= clock_.now()) {
      Guard* guard = guards_.begin()->second;
      guard->fired_ = true;
      shutdown(guard->fd_, SHUT_RDWR);
      guard->place_ = guards_.end();
      guards_.erase(guards_.begin());
    }
    arm();
  }
}

Watchdog::Guard::Guard(Watchdog& dog, int fd, Deadline deadline) : dog_(dog), fd_(fd) {
  std::lock_guard lock(dog_.mutex_);
  place_ = dog_.guards_.emplace(deadline.at, this);
  if (place_ == dog_.guards_.begin()) dog_.arm();
}

Watchdog::Guard::~Guard() {
  std::lock_guard lock(dog_.mutex_);
  if (place_ != dog_.guards_.end()) dog_.guards_.erase(place_);
}

}  // namespace benchctl
