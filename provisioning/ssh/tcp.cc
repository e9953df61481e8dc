#include "provisioning/ssh/tcp.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "lib/text.h"

namespace benchctl {
namespace {

// Fits into 576 bytes, which every path carries, with the headers and options.
constexpr int kSmallSegment = 500;

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

Error connect_error(int code) {
  std::string advice = code == ECONNREFUSED ? " (a machine is there, and nothing listens on that port)"
                       : code == ETIMEDOUT  ? " (nothing answers at all: is it running, is the address right, does a "
                                              "firewall drop what we send?)"
                       : code == EHOSTUNREACH || code == ENETUNREACH ? " (is the address right, is the network up?)"
                                                                     : "";
  return Error{ErrorKind::kProvisioning, std::string("connect: ") + std::strerror(code) + advice};
}

// Waits for `events`, at most until the deadline; kInterrupted when cancelled. False: not yet.
Result<bool> wait_for(int fd, short events, Clock& clock, Deadline deadline, int cancel_fd) {
  pollfd fds[] = {{fd, events, 0}, {cancel_fd, POLLIN, 0}};
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left(clock)).count();
  if (poll(fds, 2, static_cast<int>(std::min<int64_t>(left, 60'000))) < 0 && errno != EINTR)
    return network_error("poll", errno);
  if (fds[1].revents != 0) return Error{ErrorKind::kInterrupted, "interrupted"};
  return fds[0].revents != 0;
}

Status connect_one(Candidate& candidate, bool small_segments, Clock& clock, Deadline deadline, int cancel_fd) {
  notice_dead_peers(candidate.fd.get());
  if (small_segments) set_option(candidate.fd.get(), IPPROTO_TCP, TCP_MAXSEG, kSmallSegment);
  if (connect(candidate.fd.get(), reinterpret_cast<sockaddr*>(&candidate.address), candidate.length) == 0) return {};
  if (errno != EINPROGRESS) return connect_error(errno);
  while (true) {
    BENCHCTL_TRY(bool ready, wait_for(candidate.fd.get(), POLLOUT, clock, deadline, cancel_fd));
    if (ready) break;
    if (deadline.passed(clock)) return connect_error(ETIMEDOUT);
  }
  int code = 0;
  socklen_t length = sizeof code;
  getsockopt(candidate.fd.get(), SOL_SOCKET, SO_ERROR, &code, &length);
  if (code != 0) return connect_error(code);
  return {};
}

}  // namespace

std::string describe(const Endpoint& endpoint) {
  return endpoint.user + "@" + host_and_port(endpoint.host, endpoint.port);
}

Result<UniqueFd> tcp_connect(const Endpoint& endpoint, bool small_segments, Clock& clock, Deadline deadline,
                             int cancel_fd) {
  BENCHCTL_TRY(auto found, candidates_in(endpoint));
  Status last;
  for (Candidate& candidate : found) {
    last = connect_one(candidate, small_segments, clock, deadline, cancel_fd);
    if (last.ok()) return std::move(candidate.fd);
    if (last.error().kind == ErrorKind::kInterrupted) break;
  }
  return last.error();
}

Status await_greeting(int fd, Clock& clock, Deadline deadline, int cancel_fd) {
  auto failed = [](const std::string& what) { return Error{ErrorKind::kProvisioning, what}; };
  char seen[1024];
  int wanted = 4;  // "SSH-"; a server may say other lines before it
  while (true) {
    // What has been peeked at stays: without this, poll() would report it again and again.
    set_option(fd, SOL_SOCKET, SO_RCVLOWAT, wanted);
    BENCHCTL_TRY(bool ready, wait_for(fd, POLLIN, clock, deadline, cancel_fd));
    ssize_t count = recv(fd, seen, sizeof seen, MSG_PEEK | MSG_DONTWAIT);
    std::string_view text(seen, static_cast<size_t>(std::max<ssize_t>(count, 0)));
    std::string words = "; it says: " + sanitize(text, 200);
    if (text.starts_with("SSH-") || text.find("\nSSH-") != std::string_view::npos) break;
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      return failed(std::string("it accepted the connection and then broke it: ") + std::strerror(errno) +
                    " (too many log-ins at once, or we are banned there?)");
    if (text.size() == sizeof seen) return failed("what answers there is no SSH server" + words);
    // Readable, and no more than before: the other side has ended the connection.
    if (ready && static_cast<int>(text.size()) < wanted)
      return failed(
          "it ended the connection without an SSH greeting (too many log-ins at once, or we are banned "
          "there?)" +
          (text.empty() ? "" : words));
    wanted = static_cast<int>(text.size()) + 1;
    if (!deadline.passed(clock)) continue;
    if (!text.empty()) return failed("what answers there is no SSH server" + words);
    return failed("it accepts the connection and says nothing: its sshd is frozen or overloaded (no answer in time)");
  }
  set_option(fd, SOL_SOCKET, SO_RCVLOWAT, 1);
  return {};
}

}  // namespace benchctl
