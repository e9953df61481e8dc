// Transport over SSH (libssh). Each machine has one session, used from one thread at a time; different machines'
// transports are independent. A transport whose connection broke, or whose command outlived its deadline, stays broken:
// the caller connects again. A command that was given up is killed where the server does that (OpenSSH does not for
// root); otherwise it ends when it next prints.
//
// run() may be called from on_output of a run() of the same transport: that is how files are pulled while events are
// followed.
#pragma once

#include <memory>

#include "lib/clock.h"
#include "provisioning/ssh/watchdog.h"
#include "provisioning/transport.h"

namespace benchctl {

class SshConnector final : public Connector {
 public:
  // `clock` must outlive the connector and its transports, and its points must pass in real time: sockets do.
  explicit SshConnector(Clock& clock);
  ~SshConnector() override;

  // Retries with growing, jittered pauses until the deadline: refused and dropped connections, a server that says
  // nothing, a key that is refused. The error at the end tells a machine that never answered from one that answered
  // with the right host key but refuses our key. A wrong host key ends it at once.
  Result<std::unique_ptr<Transport>> connect(const ConnectRequest& request) override;
  // Ends every connect() under way and fails later ones, from any thread. Transports are not touched.
  void interrupt();

 private:
  Clock& clock_;
  std::shared_ptr<Watchdog> watchdog_;
  UniqueFd cancel_;
};

}  // namespace benchctl
