#include "provisioning/ssh/ssh_transport.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <atomic>
#include <random>

#include "lib/text.h"
#include "provisioning/ssh/channel.h"
#include "provisioning/ssh/session.h"
#include "provisioning/ssh/sigpipe_guard.h"
#include "provisioning/ssh/tcp.h"

namespace benchctl {
namespace {

constexpr Nanos kTcpAttempt = std::chrono::seconds(3);   // a fresh SYN finds a machine that has just come up
constexpr Nanos kSshAttempt = std::chrono::seconds(20);  // handshake and log-in on a slow, loaded machine
// A command that is late is killed by a message on a connection that still works; the watchdog is for one that does
// not.
constexpr Nanos kWatchdogSlack = std::chrono::milliseconds(200);
constexpr int64_t kFirstPauseMs = 50, kLongestPauseMs = 1000;

class SshTransport final : public Transport {
 public:
  SshTransport(std::unique_ptr<Session> session, Clock& clock, std::shared_ptr<Watchdog> watchdog, std::string name)
      : watchdog_(std::move(watchdog)), session_(std::move(session)), clock_(clock), name_(std::move(name)) {}

  Result<CommandResult> run(const std::vector<std::string>& argv, const RunOptions& options) override {
    std::string what = name_ + ": run " + sanitize(shell_quote(argv), 120);
    if (interrupted_) return Error{ErrorKind::kInterrupted, what + ": interrupted"};
    if (argv.empty()) return Error{ErrorKind::kInternal, what + ": no command"};
    for (const std::string& word : argv)
      if (word.find('\0') != std::string::npos) return Error{ErrorKind::kInternal, what + ": a NUL byte in a word"};
    if (options.deadline.passed(clock_))
      return Error{ErrorKind::kProvisioning, what + ": the deadline has passed already"};
    if (!session_->alive()) return Error{ErrorKind::kProvisioning, what + ": the connection is gone; connect again"};
    SigpipeGuard no_sigpipe;
    Watchdog::Guard guard(*watchdog_, session_->fd(), {options.deadline.at + kWatchdogSlack});
    ++channels_;
    Nanos started = clock_.now();
    ChannelBytes bytes;
    auto result = run_channel(*session_, clock_, argv, options, bytes);
    sent_ += bytes.sent;
    received_ += bytes.received;
    if (result.ok()) return result;
    if (interrupted_) return Error{ErrorKind::kInterrupted, what + ": interrupted"};
    if (options.deadline.passed(clock_)) {
      session_->shut_down();
      auto seconds = std::chrono::duration<double>(clock_.now() - started).count();
      return Error{ErrorKind::kProvisioning, what + ": had not ended after " + format_seconds(seconds) +
                                                 ", its deadline; the connection was given up"};
    }
    return result.error().in(what);
  }

  TransportCounts counts() const override { return {1, channels_, sent_, received_}; }

  void interrupt() override {
    interrupted_ = true;
    session_->shut_down();
  }

 private:
  std::shared_ptr<Watchdog> watchdog_;
  std::unique_ptr<Session> session_;
  Clock& clock_;
  const std::string name_;
  std::atomic<bool> interrupted_ = false;
  std::atomic<int64_t> channels_ = 0, sent_ = 0, received_ = 0;
};

// Half to all of the given pause, so that many machines' retries spread out.
int64_t jittered(int64_t pause_ms) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int64_t>(pause_ms / 2, pause_ms)(random);
}

}  // namespace

SshConnector::SshConnector(Clock& clock)
    : clock_(clock), watchdog_(std::make_shared<Watchdog>(clock)), cancel_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

SshConnector::~SshConnector() = default;

void SshConnector::interrupt() {
  eventfd_write(cancel_.get(), 1);
}

Result<std::unique_ptr<Transport>> SshConnector::connect(const ConnectRequest& request) {
  const std::string name = describe(request.endpoint);
  auto fail = [&](ErrorKind kind, const std::string& what) { return Error{kind, "connect to " + name + ": " + what}; };
  if (!request.host_key.starts_with("SHA256:"))
    return fail(ErrorKind::kInternal, "no pinned host key given, and none is trusted on first use");
  auto key = ClientKey::from_text(request.identity.private_key);
  if (!key) return fail(key.error().kind, key.error().message);
  SigpipeGuard no_sigpipe;
  Nanos started = clock_.now();
  int64_t attempts = 0, refusals = 0, pause_ms = kFirstPauseMs;
  std::string last = "no time for a first attempt";
  while (!request.deadline.passed(clock_)) {
    ++attempts;
    auto within = [&](Nanos span) { return Deadline{std::min(request.deadline.at, clock_.now() + span)}; };
    auto socket = tcp_connect(request.endpoint, clock_, within(kTcpAttempt), cancel_.get());
    if (!socket) {
      if (socket.error().kind == ErrorKind::kInterrupted) return fail(ErrorKind::kInterrupted, "interrupted");
      last = socket.error().message;
    } else {
      Attempt attempt = Session::open(std::move(*socket), request, *key, *watchdog_, within(kSshAttempt));
      switch (attempt.outcome) {
        case Attempt::Outcome::kOpen:
          return std::unique_ptr<Transport>(
              std::make_unique<SshTransport>(std::move(attempt.session), clock_, watchdog_, name));
        case Attempt::Outcome::kWrongHostKey:
          return fail(ErrorKind::kProvisioning,
                      "the server showed the " + attempt.why + "; it is another machine, or someone stands in between");
        case Attempt::Outcome::kKeyRefused:
          ++refusals;
          break;
        case Attempt::Outcome::kNotYet:
          break;
      }
      last = attempt.why;
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(request.deadline.left(clock_)).count();
    pollfd cancelled{cancel_.get(), POLLIN, 0};
    if (poll(&cancelled, 1, static_cast<int>(std::min(jittered(pause_ms), left))) > 0)
      return fail(ErrorKind::kInterrupted, "interrupted");
    pause_ms = std::min(pause_ms * 3 / 2, kLongestPauseMs);
  }
  std::string tried = std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts") + " in " +
                      format_seconds(std::chrono::duration<double>(clock_.now() - started).count());
  if (refusals > 0)
    return fail(ErrorKind::kProvisioning, "the machine answers with the right host key but refuses our key as user " +
                                              request.endpoint.user + " (" + std::to_string(refusals) + " refusals, " +
                                              tried + "; last: " + last +
                                              "); look at its authorized_keys and at whether cloud-init has finished");
  return fail(ErrorKind::kProvisioning, "no SSH server answered (" + tried + "; last: " + last + ")");
}

}  // namespace benchctl
