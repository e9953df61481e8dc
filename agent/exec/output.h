// A pipe of a trial copied to a file of ours: a little in memory (so that a short output causes no write while it is
// measured), then in large blocks, never more than the cap.
#pragma once

#include <cstdint>
#include <string>

#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

class OutputCopy {
 public:
  OutputCopy(UniqueFd pipe, UniqueFd file, int64_t cap) : pipe_(std::move(pipe)), file_(std::move(file)), cap_(cap) {}

  // Copies what is there now, at most a few blocks so that no writer can hold the caller; closes the pipe at its end.
  Status pump();
  // After everything has ended: copies the rest of the pipe and writes the file.
  Status finish();

  int poll_fd() const { return pipe_.get(); }  // -1 once closed
  int64_t bytes() const { return bytes_; }
  bool over_cap() const { return over_cap_; }
  const std::string& tail() const { return tail_; }  // the last few KiB

 private:
  enum class More { kYes, kNo };
  Result<More> read_block();
  Status flush();

  UniqueFd pipe_, file_;
  int64_t cap_;
  int64_t bytes_ = 0;
  bool over_cap_ = false;
  std::string held_;
  std::string tail_;
};

}  // namespace benchctl
