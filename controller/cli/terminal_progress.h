// Progress on standard error: on a terminal a live block of one line a machine below the scroll-back, elsewhere plain
// lines. Everything said also goes to the run's progress.log, which `attach` follows.
#pragma once

#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "controller/fleet/progress.h"
#include "lib/clock.h"

namespace benchctl {

class TerminalProgress final : public Progress {
 public:
  // `live`: standard error is a terminal; its width is asked for each time, since windows are made narrower.
  TerminalProgress(Clock& clock, bool live);
  ~TerminalProgress() override;
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void log_to(const std::string& path);
  void say(const std::string& who, const std::string& text) override;
  void now(const std::string& who, const std::string& text) override;
  // The live block goes, for good: what is printed from now on, by whomever, is not wiped with it.
  void settle();

 private:
  void wipe();
  void draw();

  Clock& clock_;
  Nanos begin_;
  const bool live_;
  std::mutex mutex_;
  FILE* log_ = nullptr;
  std::map<std::string, std::string> lines_;
  size_t drawn_ = 0;
};

}  // namespace benchctl
