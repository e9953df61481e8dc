#include "tests/transport/tcp_proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

namespace benchctl::testing {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

struct Pair {
  UniqueFd ends[2];
};

}  // namespace

TcpProxy::TcpProxy(int target_port)
    : target_port_(target_port),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  EXPECT_EQ(0, bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length));
  EXPECT_EQ(0, listen(listener_.get(), 64));
  EXPECT_EQ(0, getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length));
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { loop(); });
}

TcpProxy::~TcpProxy() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void TcpProxy::loop() {
  std::vector<Pair> pairs;
  while (true) {
    bool stalled = forwarded_ >= stall_after_;
    std::vector<pollfd> fds = {{stop_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Pair& pair : pairs)
      for (const UniqueFd& end : pair.ends) fds.push_back({stalled ? -1 : end.get(), POLLIN, 0});
    poll(fds.data(), fds.size(), -1);
    if (fds[0].revents != 0) return;
    for (size_t i = 0; i < pairs.size(); ++i) {
      for (size_t side : {0u, 1u}) {
        if (fds[2 + 2 * i + side].revents == 0 || !pairs[i].ends[side]) continue;
        char buffer[16384];
        ssize_t count = read(pairs[i].ends[side].get(), buffer, sizeof buffer);
        if (count > 0 &&
            send(pairs[i].ends[1 - side].get(), buffer, static_cast<size_t>(count), MSG_NOSIGNAL) == count) {
          forwarded_ += count;
        } else {
          pairs[i] = Pair{};
        }
      }
    }
    if (forwarded_ >= cut_after_) {
      const linger at_once{1, 0};
      for (Pair& pair : pairs)
        for (UniqueFd& end : pair.ends) setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      pairs.clear();
      cut_after_ = INT64_MAX;
    }
    if (fds[1].revents != 0) {
      Pair pair;
      pair.ends[0].reset(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      pair.ends[1].reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      sockaddr_in address = loopback(target_port_);
      if (connect(pair.ends[1].get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
        pairs.push_back(std::move(pair));
    }
  }
}

}  // namespace benchctl::testing
