// Transport over SSH (libssh). Each machine has one session, used from one thread at a time; different machines'
// transports are independent. A transport whose connection broke, or whose command outlived its deadline, stays broken:
// the caller connects again. A command that was given up is killed where the server does that (OpenSSH does not for
// root); otherwise it ends when it next prints.
//
// A link that is cut is noticed within half a minute (TCP), a server that answers no more after twice the `patience`
// (SSH's own keepalive), an operation that takes too long at its deadline, whichever is first.
//
// run() may be called from on_output of a run() of the same transport: that is how files are pulled while events are
// followed.
#pragma once

#include <memory>
#include <string>

#include "lib/clock.h"
#include "provisioning/ssh/watchdog.h"
#include "provisioning/transport.h"

namespace benchctl {

struct Attempt;
struct Knock;
class NarrowPaths;

class SshConnector final : public Connector {
 public:
  // `clock` must outlive the connector and its transports, and its points must pass in real time: sockets do. A server
  // that is silent for `patience` during a command is asked for a sign of life, and given up after as long again.
  explicit SshConnector(Clock& clock, Nanos patience = std::chrono::seconds(30));
  ~SshConnector() override;

  // Retries with growing, jittered pauses until the deadline: refused and dropped connections, a server that says
  // nothing or is no SSH server, a key that is refused by a machine that may still boot. The error at the end tells
  // these apart. A wrong host key ends it at once. Commands run as root through sudo where endpoint.become says so.
  Result<std::unique_ptr<Transport>> connect(const ConnectRequest& request) override;
  // The key that the server shows now, "SHA256:…", unproved: for a first use that the operator has asked for.
  Result<std::string> host_key_of(const Endpoint& endpoint, Deadline deadline);
  // Ends every connect() under way and fails later ones, from any thread. Transports are not touched.
  void interrupt();

 private:
  Result<Attempt> attempt(const Knock& knock, Deadline deadline);
  Result<Attempt> knock_until_open(Knock knock, Deadline deadline);

  Clock& clock_;
  const Nanos patience_;
  std::shared_ptr<Watchdog> watchdog_;
  std::shared_ptr<NarrowPaths> narrow_;
  UniqueFd cancel_;
};

}  // namespace benchctl
