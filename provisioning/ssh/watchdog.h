// Ends blocking socket work at its deadline by shutting the socket down: libssh's own timeouts do not cover every call.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "lib/clock.h"
#include "lib/files.h"

namespace benchctl {

// One thread, asleep until the nearest deadline; shared by all sessions of a connector. Thread-safe.
class Watchdog {
 public:
  explicit Watchdog(Clock& clock);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // While it lives, `fd` is shut down when the deadline passes. The fd must outlive it.
  class Guard {
   public:
    Guard(Watchdog& dog, int fd, Deadline deadline);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    bool fired() const { return fired_; }

   private:
    friend class Watchdog;
    Watchdog& dog_;
    int fd_;
    std::multimap<Nanos, Guard*>::iterator place_;
    std::atomic<bool> fired_ = false;
  };

 private:
  void loop();
  void arm();  // with mutex_ held

  Clock& clock_;
  UniqueFd timer_;
  UniqueFd stop_;
  std::mutex mutex_;
  std::multimap<Nanos, Guard*> guards_;
  std::thread thread_;
};

}  // namespace benchctl
