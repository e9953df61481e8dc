// The connection to one machine: made again after a cut, ended by a wish to stop, its channels counted over its whole
// life.
#pragma once

#include <memory>
#include <string>

#include "controller/fleet/stop.h"
#include "controller/remote/agent_client.h"
#include "lib/clock.h"
#include "lib/result.h"
#include "provisioning/transport.h"

namespace benchctl {

class Link {
 public:
  // `connector`, `clock` and `stop` outlive the link.
  Link(Connector& connector, Clock& clock, StopRequest& stop) : connector_(connector), clock_(clock), stop_(stop) {}

  // Where to connect to and with which pinned key; the next open() uses it.
  void target(Endpoint endpoint, SshIdentity identity, std::string host_key);
  void pin(std::string host_key) { request_.host_key = std::move(host_key); }

  // Connects, or connects again. With `stoppable` a stop request ends every operation of this connection.
  Status open(Deadline deadline, bool stoppable);
  void close();

  Transport& transport() { return *transport_; }
  AgentClient& agent() { return *agent_; }
  // Of all connections so far.
  TransportCounts counts() const;
  // The agent that later connections talk to.
  void use_agent(const std::string& sha256);

 private:
  Connector& connector_;
  Clock& clock_;
  StopRequest& stop_;
  ConnectRequest request_;
  std::string agent_sha256_;
  TransportCounts closed_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<AgentClient> agent_;
  std::unique_ptr<StopRequest::Handle> handle_;
};

}  // namespace benchctl
