#include "agent/exec/put_in_place.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

#include "lib/files.h"

namespace benchctl {
namespace {

Status move(const std::string& temporary, const std::string& dest) {
  if (chmod(temporary.c_str(), 0755) != 0) return errno_error("chmod " + temporary);
  BENCHCTL_CHECK(sync_dir(temporary));
  if (rename(temporary.c_str(), dest.c_str()) != 0 && errno != EEXIST && errno != ENOTEMPTY)
    return errno_error("rename " + temporary);
  return {};
}

}  // namespace

Status put_in_place(const std::string& temporary, const std::string& dest) {
  Status status = move(temporary, dest);
  if (exists(temporary)) {
    Status removed = remove_tree(temporary);
    if (status && !removed) status = removed;
  }
  BENCHCTL_CHECK(std::move(status));
  const size_t slash = dest.rfind('/');
  return sync_dir(slash == std::string::npos ? "." : slash == 0 ? "/" : dest.substr(0, slash));
}

}  // namespace benchctl
