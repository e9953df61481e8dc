// One authenticated SSH connection: handshake, pinned host key, our key. Internal to this folder; libssh is only in
// .cc.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "lib/clock.h"
#include "lib/files.h"
#include "lib/result.h"
#include "provisioning/ssh/watchdog.h"
#include "provisioning/transport.h"

struct ssh_session_struct;
struct ssh_event_struct;
struct ssh_key_struct;
struct ssh_counter_struct;

namespace benchctl {

class ClientKey;
class Session;

// What one attempt to connect came to. Only the wrong host key is final at once: a booting machine refuses connections,
// drops them, and may refuse our key before cloud-init has written it.
struct Attempt {
  enum class Outcome { kOpen, kLooked, kNotYet, kKeyRefused, kWrongHostKey, kNoHostKeyOfThatKind };
  Outcome outcome = Outcome::kNotYet;
  std::unique_ptr<Session> session;  // when kOpen
  std::string why;                   // otherwise
  std::string shown;                 // the host key, once the server has proved that it is its own
  bool stalled = false;              // the server greeted us, and then the handshake never came to an end
};

// How an attempt is made.
struct Knock {
  const Endpoint& endpoint;
  const ClientKey* key;        // none: only look at the host key (kLooked)
  std::string host_key;        // that must be shown
  const char* host_key_kinds;  // libssh's list of algorithms
  Nanos patience;              // see Session::wait()
};

class ClientKey {
 public:
  static Result<ClientKey> from_text(const std::string& openssh_private_key);
  ClientKey(ClientKey&& other) noexcept : key_(other.key_) { other.key_ = nullptr; }
  ClientKey& operator=(ClientKey&&) = delete;
  ~ClientKey();
  ssh_key_struct* get() const { return key_; }

 private:
  explicit ClientKey(ssh_key_struct* key) : key_(key) {}
  ssh_key_struct* key_;
};

// Used from one thread at a time; shut_down() from any.
class Session {
 public:
  static Attempt open(UniqueFd socket, const Knock& knock, Clock& clock, Watchdog& watchdog, Deadline deadline);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ssh_session_struct* get() const { return session_; }
  int fd() const { return fd_.get(); }
  bool alive() const;
  std::string last_error() const;  // libssh's words, sanitized

  // A command begins: silence counts from now.
  void begin();
  // Waits until something has come or could be sent, at most so long; false when the connection has broken. A server
  // that is silent for `patience` is asked for a sign of life (which keeps NAT entries alive, too); when none comes for
  // as long again, the connection is given up. TCP's own probes are answered by the kernel of a machine whose sshd is
  // frozen; these are not.
  bool wait(int milliseconds);
  bool silent() const { return silent_; }  // given up for that reason
  Nanos patience() const { return patience_; }
  // Ends the connection without a word; everything under way on it fails.
  void shut_down();

 private:
  Session(UniqueFd fd, Clock& clock, Nanos patience);

  Clock& clock_;
  const Nanos patience_;
  UniqueFd fd_;  // a duplicate of libssh's own, so that it stays ours to shut down whatever libssh does
  ssh_session_struct* session_ = nullptr;
  ssh_event_struct* event_ = nullptr;
  std::atomic<bool> down_ = false;
  std::unique_ptr<ssh_counter_struct> heard_;  // counted by libssh
  uint64_t heard_before_ = 0;
  Nanos heard_at_{0}, asked_at_{0};
  bool asked_ = false, silent_ = false;
};

}  // namespace benchctl
