// What building may use of the world.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/clock.h"

namespace benchctl {

struct BuildContext {
  std::string root;       // the folder workloads/, absolute: holds toolchains/ and the workloads
  std::string cache_dir;  // absolute; made when absent. Holds toolchains/, builds/, bundles/, work/, logs/
  Clock& clock;
  std::function<void(const std::string&)> say;  // one line of progress
  std::vector<std::string> env;                 // whole environment of compilers; empty: default_environment()
  Nanos timeout = std::chrono::minutes(20);     // of one command
  std::function<void(const std::string&)> now;  // what is being done at the moment; may be empty

  std::function<bool()> stop;  // true: leave off, with kInterrupted; may be empty

  bool stopped() const { return stop && stop(); }
  void tell(const std::string& text) const {
    if (now) now(text);
  }
};

}  // namespace benchctl
