// The same contract on this computer, without any network: commands are our own child processes.
#pragma once

#include <memory>

#include "lib/clock.h"
#include "lib/files.h"
#include "provisioning/transport.h"

namespace benchctl {

// Each command runs in a session (and process group) of its own, in `/`, with a small environment of ours, as an SSH
// login would give it. It has ended when its process has ended and both outputs are closed. One that outlives its
// deadline, or that is given up, is killed with its whole group. A command that cannot be executed ends with 127 or 126
// and the reason on standard error, as a remote shell would have it.
// Unlike SSH, a missed deadline does not break the transport. `clock` must outlive it.
Result<std::unique_ptr<Transport>> make_local_transport(Clock& clock);

// Goes to each endpoint by its kind. Both must outlive it.
class AnyConnector final : public Connector {
 public:
  AnyConnector(Connector& ssh, Clock& clock) : ssh_(ssh), clock_(clock) {}
  Result<std::unique_ptr<Transport>> connect(const ConnectRequest& request) override;

 private:
  Connector& ssh_;
  Clock& clock_;
};

}  // namespace benchctl
