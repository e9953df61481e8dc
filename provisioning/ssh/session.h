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

namespace benchctl {

class Session;

// What one attempt to connect came to. Only the wrong host key is final at once: a booting machine refuses connections,
// drops them, and may refuse our key before cloud-init has written it.
struct Attempt {
  enum class Outcome { kOpen, kNotYet, kKeyRefused, kWrongHostKey } outcome = Outcome::kNotYet;
  std::unique_ptr<Session> session;  // when kOpen
  std::string why;                   // otherwise
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
  static Attempt open(UniqueFd socket, const ConnectRequest& request, const ClientKey& key, Watchdog& watchdog,
                      Deadline deadline);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ssh_session_struct* get() const { return session_; }
  int fd() const { return fd_.get(); }
  bool alive() const;
  std::string last_error() const;  // libssh's words, sanitized

  // Waits until something has come or could be sent, at most so long; false when the connection has broken.
  bool wait(int milliseconds);
  // Ends the connection without a word; everything under way on it fails.
  void shut_down();

 private:
  explicit Session(UniqueFd fd);

  UniqueFd fd_;  // a duplicate of libssh's own, so that it stays ours to shut down whatever libssh does
  ssh_session_struct* session_ = nullptr;
  ssh_event_struct* event_ = nullptr;
  std::atomic<bool> down_ = false;
};

}  // namespace benchctl
