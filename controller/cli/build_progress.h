// Progress of building, on standard error: what is said as lines with the time since the start; what is being done now,
// with the time that it takes, as one line that a terminal renews each second, and elsewhere a line each half minute,
// so that a log shows that the build lives.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "lib/clock.h"

namespace benchctl {

class BuildProgress {
 public:
  BuildProgress(Clock& clock, bool terminal, int width);
  ~BuildProgress();
  BuildProgress(const BuildProgress&) = delete;
  BuildProgress& operator=(const BuildProgress&) = delete;

  void say(const std::string& line);
  void now(const std::string& text);

 private:
  void tick();
  void wipe();
  std::string elapsed(Nanos since) const;

  Clock& clock_;
  const bool terminal_;
  const size_t width_;
  const Nanos begin_;
  Nanos since_;
  std::string text_;
  bool drawn_ = false;
  bool ended_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread ticker_;
};

}  // namespace benchctl
