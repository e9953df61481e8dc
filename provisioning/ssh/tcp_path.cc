// Apart from tcp.cc: the kernel's own header has the fields that we need, and does not go together with libc's.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "provisioning/ssh/tcp.h"

namespace benchctl {

bool bytes_vanish(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  constexpr socklen_t kNeeded = offsetof(tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans;
  if (length < kNeeded) return false;  // an older kernel
  // Not from tcpi_unacked, which a connection that the kernel has given up already reports as zero.
  int64_t unconfirmed = static_cast<int64_t>(info.tcpi_bytes_sent) - static_cast<int64_t>(info.tcpi_bytes_retrans) -
                        static_cast<int64_t>(info.tcpi_bytes_acked);
  return info.tcpi_total_retrans >= 2 && unconfirmed > 1000;
}

}  // namespace benchctl
