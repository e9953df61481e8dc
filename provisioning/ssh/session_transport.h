// The Transport over one open session. Internal to this folder.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "lib/clock.h"
#include "provisioning/ssh/session.h"
#include "provisioning/ssh/watchdog.h"
#include "provisioning/transport.h"

namespace benchctl {

// Machines to which large packets get lost on the way, so that later connections use small ones. Thread-safe; shared by
// a connector and its transports.
class NarrowPaths {
 public:
  void add(const Endpoint& endpoint);
  bool has(const Endpoint& endpoint);

 private:
  std::mutex mutex_;
  std::set<std::string> machines_;
};

std::unique_ptr<Transport> make_session_transport(std::unique_ptr<Session> session, const Endpoint& endpoint,
                                                  Clock& clock, std::shared_ptr<Watchdog> watchdog,
                                                  std::shared_ptr<NarrowPaths> narrow);

}  // namespace benchctl
