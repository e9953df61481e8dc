#include "lib/pipe.h"

#include <fcntl.h>
#include <unistd.h>

namespace benchctl {

Result<Pipe> make_pipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return errno_error("pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

}  // namespace benchctl
