#include <sys/eventfd.h>

#include <atomic>

#include "lib/text.h"
#include "provisioning/ssh/channel.h"
#include "provisioning/ssh/session_transport.h"
#include "provisioning/ssh/sigpipe_guard.h"
#include "provisioning/ssh/tcp.h"

namespace benchctl {
namespace {

// A command that is late is killed by a message on a connection that still works; the watchdog is for one that does
// not.
constexpr Nanos kWatchdogSlack = std::chrono::milliseconds(200);
// A fresh connection after large packets were lost: is it the path, or is the link down?
constexpr Nanos kPathCheck = std::chrono::seconds(3);
constexpr Nanos kSlowShell = std::chrono::seconds(2);

std::string seconds_of(Nanos span) {
  return format_seconds(std::chrono::duration<double>(span).count());
}

class SessionTransport final : public Transport {
 public:
  SessionTransport(std::unique_ptr<Session> session, const Endpoint& endpoint, Clock& clock,
                   std::shared_ptr<Watchdog> watchdog, std::shared_ptr<NarrowPaths> narrow)
      : watchdog_(std::move(watchdog)),
        narrow_(std::move(narrow)),
        session_(std::move(session)),
        endpoint_(endpoint),
        clock_(clock),
        name_(describe(endpoint)),
        small_segments_(narrow_->has(endpoint)) {}

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
    const bool first = channels_++ == 0;
    Nanos started = clock_.now();
    ChannelNotes notes;
    auto result = run_channel(*session_, clock_, argv, endpoint_.become, options, notes);
    sent_ += notes.sent;
    received_ += notes.received;
    if (first) first_ = notes;
    if (result.ok()) return result;
    if (interrupted_) return Error{ErrorKind::kInterrupted, what + ": interrupted"};
    std::string path = path_trouble();
    if (options.deadline.passed(clock_)) {
      session_->shut_down();
      return Error{ErrorKind::kProvisioning, what + ": had not ended after " + seconds_of(clock_.now() - started) +
                                                 ", its deadline; the connection was given up" + path};
    }
    Error error = result.error().in(what);
    error.message += path;
    return error;
  }

  TransportCounts counts() const override { return {1, channels_, sent_, received_}; }

  std::string remark() const override {
    std::vector<std::string> all;
    if (first_.start_time > kSlowShell)
      all.push_back("its login shell took " + seconds_of(first_.start_time) +
                    " to start a command; look at what its start-up files do");
    if (!first_.shell_printed.empty())
      all.push_back("the login shell prints text before every command (\"" + sanitize(trim(first_.shell_printed), 80) +
                    "\"); it was left out");
    if (small_segments_)
      all.push_back("large packets get lost on the way there (MTU); packets of at most 576 bytes are used");
    return all.empty() ? "" : name_ + ": " + join(all, "; ");
  }

  void interrupt() override {
    interrupted_ = true;
    session_->shut_down();
  }

 private:
  // Called when an operation failed. Small packets get through on a new connection while large ones were lost on the
  // old one: the path carries less than it says. The next connection to the machine uses small ones.
  std::string path_trouble() {
    if (small_segments_ || !bytes_vanish(session_->fd())) return "";
    UniqueFd never(eventfd(0, EFD_CLOEXEC));
    Deadline end = Deadline::in(clock_, kPathCheck);
    auto socket = tcp_connect(endpoint_, true, clock_, end, never.get());
    if (!socket || !await_greeting(socket->get(), clock_, end, never.get())) return "";
    narrow_->add(endpoint_);
    return "; small packets reach the machine and large ones do not: the MTU of the path is smaller than that of the "
           "interface (set it there; until then the next connection uses small packets)";
  }

  std::shared_ptr<Watchdog> watchdog_;
  std::shared_ptr<NarrowPaths> narrow_;
  std::unique_ptr<Session> session_;
  const Endpoint endpoint_;
  Clock& clock_;
  const std::string name_;
  const bool small_segments_;
  ChannelNotes first_;
  std::atomic<bool> interrupted_ = false;
  std::atomic<int64_t> channels_ = 0, sent_ = 0, received_ = 0;
};

}  // namespace

void NarrowPaths::add(const Endpoint& endpoint) {
  std::lock_guard lock(mutex_);
  machines_.insert(endpoint.netns + " " + host_and_port(endpoint.host, endpoint.port));
}

bool NarrowPaths::has(const Endpoint& endpoint) {
  std::lock_guard lock(mutex_);
  return machines_.count(endpoint.netns + " " + host_and_port(endpoint.host, endpoint.port)) != 0;
}

std::unique_ptr<Transport> make_session_transport(std::unique_ptr<Session> session, const Endpoint& endpoint,
                                                  Clock& clock, std::shared_ptr<Watchdog> watchdog,
                                                  std::shared_ptr<NarrowPaths> narrow) {
  return std::make_unique<SessionTransport>(std::move(session), endpoint, clock, std::move(watchdog),
                                            std::move(narrow));
}

}  // namespace benchctl
