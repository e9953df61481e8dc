#include "controller/fleet/link.h"

namespace benchctl {
namespace {

void add(TransportCounts& sum, const TransportCounts& more) {
  sum.connects += more.connects;
  sum.channels += more.channels;
  sum.bytes_sent += more.bytes_sent;
  sum.bytes_received += more.bytes_received;
}

}  // namespace

void Link::target(Endpoint endpoint, SshIdentity identity, std::string host_key) {
  request_.endpoint = std::move(endpoint);
  request_.identity = std::move(identity);
  request_.host_key = std::move(host_key);
}

Status Link::open(Deadline deadline, bool stoppable) {
  close();
  request_.deadline = deadline;
  BENCHCTL_TRY(transport_, connector_.connect(request_));
  agent_ = std::make_unique<AgentClient>(*transport_, clock_, request_.endpoint.work_dir);
  if (!agent_sha256_.empty()) agent_->use_agent(agent_sha256_);
  if (stoppable)
    handle_ = std::make_unique<StopRequest::Handle>(stop_, [transport = transport_.get()] { transport->interrupt(); });
  return {};
}

void Link::close() {
  handle_.reset();
  agent_.reset();
  if (transport_) add(closed_, transport_->counts());
  transport_.reset();
}

TransportCounts Link::counts() const {
  TransportCounts sum = closed_;
  if (transport_) add(sum, transport_->counts());
  return sum;
}

void Link::use_agent(const std::string& sha256) {
  agent_sha256_ = sha256;
  if (agent_) agent_->use_agent(sha256);
}

}  // namespace benchctl
