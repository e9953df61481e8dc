#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <random>

#include "lib/text.h"
#include "provisioning/ssh/session.h"
#include "provisioning/ssh/session_transport.h"
#include "provisioning/ssh/sigpipe_guard.h"
#include "provisioning/ssh/ssh_transport.h"
#include "provisioning/ssh/tcp.h"

namespace benchctl {
namespace {

constexpr Nanos kTcpAttempt = std::chrono::seconds(3);   // a fresh SYN finds a machine that has just come up
constexpr Nanos kSshAttempt = std::chrono::seconds(20);  // handshake and log-in on a slow, loaded machine
constexpr int64_t kFirstPauseMs = 50, kLongestPauseMs = 1000;
// After a key was refused. OpenSSH 9.8 and newer adds 5 s of penalty for each failed log-in and drops every connection
// of an address that has 15 s (sshd_config, PerSourcePenalties): who knocks in haste locks himself out. Jitter halves.
constexpr int64_t kSecondKnockMs = 2000, kPatientKnockMs = 12'000;

// The kinds of host keys, best first. A machine of ours is born with an ed25519 key; one that is kept may be pinned by
// any of its keys, and a server shows only one a handshake.
constexpr const char* kHostKeyKinds[] = {"ssh-ed25519", "ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521",
                                         "rsa-sha2-512,rsa-sha2-256"};
constexpr const char* kAnyHostKeyKind =
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,rsa-sha2-256";

// Half to all of the given pause, so that many machines' retries spread out.
int64_t jittered(int64_t pause_ms) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int64_t>(pause_ms / 2, pause_ms)(random);
}

bool kept(const Endpoint& endpoint) {
  return !endpoint.key_file.empty();
}

}  // namespace

SshConnector::SshConnector(Clock& clock, Nanos patience)
    : clock_(clock),
      patience_(patience),
      watchdog_(std::make_shared<Watchdog>(clock)),
      narrow_(std::make_shared<NarrowPaths>()),
      cancel_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

SshConnector::~SshConnector() = default;

void SshConnector::interrupt() {
  eventfd_write(cancel_.get(), 1);
}

Result<Attempt> SshConnector::attempt(const Knock& knock, Deadline deadline) {
  auto within = [&](Nanos span) { return Deadline{std::min(deadline.at, clock_.now() + span)}; };
  BENCHCTL_TRY(UniqueFd socket,
               tcp_connect(knock.endpoint, narrow_->has(knock.endpoint), clock_, within(kTcpAttempt), cancel_.get()));
  Deadline end = within(kSshAttempt);
  BENCHCTL_CHECK(await_greeting(socket.get(), clock_, end, cancel_.get()));
  Attempt attempt = Session::open(std::move(socket), knock, clock_, *watchdog_, end);
  if (attempt.stalled) narrow_->add(knock.endpoint);
  return attempt;
}

Result<Attempt> SshConnector::knock_until_open(Knock knock, Deadline deadline) {
  const Endpoint& endpoint = knock.endpoint;
  const bool looking = knock.key == nullptr;
  auto fail = [&](ErrorKind kind, const std::string& what) { return Error{kind, what}; };
  SigpipeGuard no_sigpipe;
  Nanos started = clock_.now();
  int64_t attempts = 0, refusals = 0, pause_ms = kFirstPauseMs;
  size_t kind = 0;
  std::string last = "no time for a first attempt", first_wrong;
  while (!deadline.passed(clock_)) {
    ++attempts;
    knock.host_key_kinds = looking ? kAnyHostKeyKind : kHostKeyKinds[kind];
    auto made = attempt(knock, deadline);
    if (!made) {
      if (made.error().kind == ErrorKind::kInterrupted) return fail(ErrorKind::kInterrupted, "interrupted");
      last = made.error().message;
    } else {
      last = made->why;
      switch (made->outcome) {
        case Attempt::Outcome::kOpen:
        case Attempt::Outcome::kLooked:
          return made;
        case Attempt::Outcome::kWrongHostKey:
          if (first_wrong.empty()) first_wrong = made->why;
          [[fallthrough]];
        case Attempt::Outcome::kNoHostKeyOfThatKind:
          if (kept(endpoint) && !looking && ++kind < std::size(kHostKeyKinds)) continue;
          if (first_wrong.empty()) return fail(ErrorKind::kProvisioning, last);
          return fail(ErrorKind::kProvisioning,
                      "the server showed the " + first_wrong + "; it is another machine, or someone stands in between");
        case Attempt::Outcome::kKeyRefused:
          if (kept(endpoint))
            return fail(ErrorKind::kProvisioning, "the machine answers with the right host key and refuses the key " +
                                                      sanitize(endpoint.key_file, 200) + " for user " + endpoint.user +
                                                      "; its public half must be in that user's authorized_keys there");
          ++refusals;
          pause_ms = refusals == 1 ? kSecondKnockMs : kPatientKnockMs;
          break;
        case Attempt::Outcome::kNotYet:
          break;
      }
    }
    auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.left(clock_)).count();
    pollfd cancelled{cancel_.get(), POLLIN, 0};
    if (poll(&cancelled, 1, static_cast<int>(std::min(jittered(pause_ms), left))) > 0)
      return fail(ErrorKind::kInterrupted, "interrupted");
    pause_ms = std::min(std::min(pause_ms, kLongestPauseMs) * 3 / 2, kLongestPauseMs);
  }
  std::string tried = std::to_string(attempts) + (attempts == 1 ? " attempt" : " attempts") + " in " +
                      format_seconds(std::chrono::duration<double>(clock_.now() - started).count());
  if (refusals > 0)
    return fail(ErrorKind::kProvisioning, "the machine answers with the right host key but refuses our key as user " +
                                              endpoint.user + " (" + std::to_string(refusals) + " refusals, " + tried +
                                              "; last: " + last +
                                              "); look at its authorized_keys and at whether cloud-init has finished");
  return fail(ErrorKind::kProvisioning, "no SSH server answered (" + tried + "; last: " + last + ")");
}

Result<std::unique_ptr<Transport>> SshConnector::connect(const ConnectRequest& request) {
  const Endpoint& endpoint = request.endpoint;
  const std::string where = "connect to " + describe(endpoint);
  const std::string& pin = request.host_key.empty() ? endpoint.host_key : request.host_key;
  if (!pin.starts_with("SHA256:"))
    return Error{ErrorKind::kInternal, where + ": no pinned host key given, and none is trusted on first use"};
  std::string private_key = request.identity.private_key;
  if (kept(endpoint)) {
    BENCHCTL_TRY(private_key, read_private_key(endpoint.key_file));
  }
  auto key = ClientKey::from_text(private_key);
  if (!key) return key.error().in(where);
  auto open = knock_until_open({endpoint, &*key, pin, nullptr, patience_}, request.deadline);
  if (!open) return open.error().in(where);
  return make_session_transport(std::move(open->session), endpoint, clock_, watchdog_, narrow_);
}

Result<std::string> SshConnector::host_key_of(const Endpoint& endpoint, Deadline deadline) {
  auto looked = knock_until_open({endpoint, nullptr, "", nullptr, patience_}, deadline);
  if (!looked) return looked.error().in("look at the host key of " + host_and_port(endpoint.host, endpoint.port));
  return looked->shown;
}

}  // namespace benchctl
