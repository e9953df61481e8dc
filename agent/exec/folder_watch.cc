#include "agent/exec/folder_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

namespace benchctl {

Result<FolderWatch> FolderWatch::on(const std::string& folder) {
  UniqueFd fd(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd || inotify_add_watch(fd.get(), folder.c_str(), IN_CREATE | IN_MOVED_TO) < 0)
    return errno_error("inotify on " + folder);
  return FolderWatch(std::move(fd));
}

void FolderWatch::drain() {
  char buffer[4096];
  while (read(fd_.get(), buffer, sizeof buffer) > 0) {
  }
}

}  // namespace benchctl
