// SIGTERM and SIGINT as a descriptor: asked for once, remembered.
#pragma once

#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

class StopSignal {
 public:
  // Blocks both signals for this process; children reset them.
  static Result<StopSignal> install();

  int fd() const { return requested_ ? -1 : fd_.get(); }  // to poll for reading; -1 once it was asked
  bool requested();                                       // looks, without blocking
  void request() { requested_ = true; }

 private:
  explicit StopSignal(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  bool requested_ = false;
};

}  // namespace benchctl
