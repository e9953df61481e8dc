#include "provisioning/ssh/session.h"

#include <fcntl.h>
#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/server.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "lib/text.h"

namespace benchctl {
namespace {

// Deadlines are the watchdog's business; libssh's own timeout, which some calls obey and some do not, is out of the
// way.
constexpr long kNoTimeoutSeconds = 24 * 3600;

// Nothing that a server asks of us is granted: no channel, no forwarding. Without this, libssh would queue the
// requests.
int refuse_request(ssh_session, ssh_message, void*) {
  return 1;
}

bool set_options(ssh_session session, const Endpoint& endpoint, const char* host_key_kinds, int fd) {
  const bool no_config = false;
  const int quiet = SSH_LOG_NOLOG, port = endpoint.port;
  const long timeout = kNoTimeoutSeconds;
  auto set = [&](enum ssh_options_e option, const void* value) { return ssh_options_set(session, option, value) == 0; };
  return set(SSH_OPTIONS_PROCESS_CONFIG, &no_config) && set(SSH_OPTIONS_LOG_VERBOSITY, &quiet) &&
         set(SSH_OPTIONS_HOST, endpoint.host.c_str()) && set(SSH_OPTIONS_PORT, &port) &&
         set(SSH_OPTIONS_USER, endpoint.user.c_str()) && set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null") &&
         set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null") && set(SSH_OPTIONS_HOSTKEYS, host_key_kinds) &&
         set(SSH_OPTIONS_TIMEOUT, &timeout) && set(SSH_OPTIONS_FD, &fd);
}

std::string server_fingerprint(ssh_session session) {
  ssh_key key = nullptr;
  unsigned char* hash = nullptr;
  size_t length = 0;
  std::string text;
  if (ssh_get_server_publickey(session, &key) == SSH_OK &&
      ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &length) == 0) {
    if (char* words = ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, length)) {
      text = words;
      ssh_string_free_char(words);
    }
    ssh_clean_pubkey_hash(&hash);
  }
  ssh_key_free(key);
  return text;
}

}  // namespace

Result<ClientKey> ClientKey::from_text(const std::string& openssh_private_key) {
  ssh_key key = nullptr;
  if (ssh_pki_import_privkey_base64(openssh_private_key.c_str(), nullptr, nullptr, nullptr, &key) != SSH_OK)
    return Error{ErrorKind::kUsage, "the client key is not an unencrypted OpenSSH private key"};
  return ClientKey(key);
}

ClientKey::~ClientKey() {
  ssh_key_free(key_);
}

Session::Session(UniqueFd fd, Clock& clock, Nanos patience)
    : clock_(clock),
      patience_(patience),
      fd_(std::move(fd)),
      session_(ssh_new()),
      event_(ssh_event_new()),
      heard_(std::make_unique<ssh_counter_struct>()) {
  if (session_ != nullptr) ssh_set_counters(session_, heard_.get(), nullptr);
}

Session::~Session() {
  if (session_ != nullptr) {
    // Polite when it costs no waiting; the socket is closed either way.
    ssh_set_blocking(session_, 0);
    if (event_ != nullptr) ssh_event_remove_session(event_, session_);
    if (!down_ && ssh_is_connected(session_) == 1) ssh_disconnect(session_);
    ssh_free(session_);
  }
  if (event_ != nullptr) ssh_event_free(event_);
}

Attempt Session::open(UniqueFd socket, const Knock& knock, Clock& clock, Watchdog& watchdog, Deadline deadline) {
  Attempt attempt;
  std::unique_ptr<Session> self(new Session(std::move(socket), clock, knock.patience));
  int fd = fcntl(self->fd(), F_DUPFD_CLOEXEC, 0);
  if (self->session_ == nullptr || self->event_ == nullptr || fd < 0 ||
      !set_options(self->session_, knock.endpoint, knock.host_key_kinds, fd)) {
    if (fd >= 0) close(fd);
    attempt.why = "libssh could not be set up";
    return attempt;
  }
  Watchdog::Guard guard(watchdog, self->fd(), deadline);
  auto failed = [&](Attempt::Outcome outcome, std::string why) {
    attempt.outcome = outcome;
    attempt.why = guard.fired() ? why + " (no answer in time)" : std::move(why);
    return std::move(attempt);
  };
  ssh_set_message_callback(self->session_, refuse_request, nullptr);
  if (ssh_connect(self->session_) != SSH_OK) {
    std::string why = self->last_error();
    if (why.find("server host key algo") != std::string::npos)
      return failed(Attempt::Outcome::kNoHostKeyOfThatKind, "SSH handshake: " + why);
    attempt.stalled = guard.fired();
    return failed(Attempt::Outcome::kNotYet,
                  attempt.stalled ? "the server greets and then stalls in the SSH handshake: its sshd is frozen, or "
                                    "large packets are lost on the way (MTU)"
                                  : "SSH handshake: " + why);
  }
  attempt.shown = server_fingerprint(self->session_);
  if (knock.key == nullptr) return failed(Attempt::Outcome::kLooked, "");
  if (attempt.shown != knock.host_key)
    return failed(Attempt::Outcome::kWrongHostKey, "host key " + sanitize(attempt.shown, 100) +
                                                       " instead of the pinned " + sanitize(knock.host_key, 100));
  int rc = ssh_userauth_publickey(self->session_, nullptr, knock.key->get());
  if (rc == SSH_AUTH_DENIED || rc == SSH_AUTH_PARTIAL)
    return failed(Attempt::Outcome::kKeyRefused, "our key was refused");
  if (rc != SSH_AUTH_SUCCESS) return failed(Attempt::Outcome::kNotYet, "SSH log-in: " + self->last_error());
  if (ssh_event_add_session(self->event_, self->session_) != SSH_OK)
    return failed(Attempt::Outcome::kNotYet, "libssh could not be set up");
  if (guard.fired()) return failed(Attempt::Outcome::kNotYet, "SSH log-in");
  attempt.outcome = Attempt::Outcome::kOpen;
  attempt.session = std::move(self);
  return attempt;
}

bool Session::alive() const {
  return !down_ && ssh_is_connected(session_) == 1;
}

std::string Session::last_error() const {
  return sanitize(ssh_get_error(session_), 300);
}

void Session::begin() {
  heard_before_ = heard_->in_bytes;
  heard_at_ = clock_.now();
  asked_ = false;
}

bool Session::wait(int milliseconds) {
  Nanos now = clock_.now();
  if (heard_->in_bytes != heard_before_) begin();
  if (!asked_ && now - heard_at_ >= patience_) {
    asked_ = true;
    asked_at_ = now;
    const int blocking = ssh_is_blocking(session_);
    ssh_set_blocking(session_, 0);
    // libssh takes in the answer to the last one by the next call, which then sends nothing.
    for (int turn = 0; turn < 2; ++turn) ssh_send_keepalive(session_);
    ssh_set_blocking(session_, blocking);
  } else if (asked_ && now - asked_at_ >= patience_) {
    silent_ = true;
    shut_down();
    return false;
  }
  Nanos next = (asked_ ? asked_at_ : heard_at_) + patience_ - now;
  auto left = std::chrono::ceil<std::chrono::milliseconds>(std::max(next, Nanos{0})).count();
  return ssh_event_dopoll(event_, static_cast<int>(std::min<int64_t>(milliseconds, left))) != SSH_ERROR && alive();
}

void Session::shut_down() {
  down_ = true;
  shutdown(fd_.get(), SHUT_RDWR);
}

}  // namespace benchctl
