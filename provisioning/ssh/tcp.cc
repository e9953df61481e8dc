#include "provisioning/ssh/tcp.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

namespace benchctl {
namespace {

struct Candidate {
  UniqueFd fd;
  sockaddr_storage address{};
  socklen_t length = 0;
};

Error network_error(const std::string& what, int code) {
  return Error{ErrorKind::kProvisioning, what + ": " + std::strerror(code)};
}

Result<std::vector<Candidate>> candidates(const Endpoint& endpoint) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  std::string port = std::to_string(endpoint.port);
  if (int code = getaddrinfo(endpoint.host.c_str(), port.c_str(), &hints, &found); code != 0)
    return Error{ErrorKind::kProvisioning, "look up " + endpoint.host + ": " + gai_strerror(code)};
  std::vector<Candidate> result;
  int code = 0;
  for (addrinfo* info = found; info != nullptr && result.size() < 8; info = info->ai_next) {
    Candidate candidate;
    candidate.fd.reset(socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!candidate.fd) {
      code = errno;
      continue;
    }
    std::memcpy(&candidate.address, info->ai_addr, info->ai_addrlen);
    candidate.length = info->ai_addrlen;
    result.push_back(std::move(candidate));
  }
  freeaddrinfo(found);
  if (result.empty()) return network_error("socket for " + endpoint.host, code);
  return result;
}

// A socket belongs to the namespace that its thread was in when it was made; everything after works from anywhere.
// So a thread of its own goes there and hands the sockets over, and no other thread ever changes its namespace.
Result<std::vector<Candidate>> candidates_in(const Endpoint& endpoint) {
  if (endpoint.netns.empty()) return candidates(endpoint);
  UniqueFd ns(open(endpoint.netns.c_str(), O_RDONLY | O_CLOEXEC));
  if (!ns) return network_error("open network namespace " + endpoint.netns, errno);
  Result<std::vector<Candidate>> result = Error{};
  std::thread([&] {
    if (setns(ns.get(), CLONE_NEWNET) != 0) {
      result = network_error("enter network namespace " + endpoint.netns + " (needs root)", errno);
    } else {
      result = candidates(endpoint);
    }
  }).join();
  return result;
}

void set_option(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);
}

// A peer that is silent for 30 s with data or a probe under way is dead. The probes also keep NAT entries alive.
void notice_dead_peers(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

Status connect_one(Candidate& candidate, Clock& clock, Deadline deadline, int cancel_fd) {
  notice_dead_peers(candidate.fd.get());
  if (connect(candidate.fd.get(), reinterpret_cast<sockaddr*>(&candidate.address), candidate.length) == 0) return {};
  if (errno != EINPROGRESS) return network_error("connect", errno);
  while (true) {
    pollfd fds[] = {{candidate.fd.get(), POLLOUT, 0}, {cancel_fd, POLLIN, 0}};
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left(clock)).count();
    int ready = poll(fds, 2, static_cast<int>(std::min<int64_t>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return network_error("poll", errno);
    if (fds[1].revents != 0) return Error{ErrorKind::kInterrupted, "interrupted"};
    if (ready > 0 && fds[0].revents != 0) break;
    if (deadline.passed(clock)) return network_error("connect", ETIMEDOUT);
  }
  int code = 0;
  socklen_t length = sizeof code;
  getsockopt(candidate.fd.get(), SOL_SOCKET, SO_ERROR, &code, &length);
  if (code != 0) return network_error("connect", code);
  return {};
}

}  // namespace

std::string describe(const Endpoint& endpoint) {
  bool v6 = endpoint.host.find(':') != std::string::npos;
  return endpoint.user + "@" + (v6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

Result<UniqueFd> tcp_connect(const Endpoint& endpoint, Clock& clock, Deadline deadline, int cancel_fd) {
  BENCHCTL_TRY(auto found, candidates_in(endpoint));
  Status last;
  for (Candidate& candidate : found) {
    last = connect_one(candidate, clock, deadline, cancel_fd);
    if (last.ok()) return std::move(candidate.fd);
    if (last.error().kind == ErrorKind::kInterrupted) break;
  }
  return last.error();
}

}  // namespace benchctl
