// New names in a folder, by inotify.
#pragma once

#include <string>

#include "lib/files.h"
#include "lib/result.h"

namespace benchctl {

class FolderWatch {
 public:
  static Result<FolderWatch> on(const std::string& folder);
  int fd() const { return fd_.get(); }  // readable when a name has come
  void drain();

 private:
  explicit FolderWatch(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace benchctl
