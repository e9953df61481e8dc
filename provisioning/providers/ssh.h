// Machines that exist and are kept, reached by ssh: making one is taking its lock and making a private folder there;
// removing it gives both back, and nothing else is touched.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "provisioning/provider.h"
#include "provisioning/providers/ssh_book.h"
#include "provisioning/transport.h"

namespace benchctl {

struct SshWorld {
  Connector& connector;
  Clock& clock;
  // The host key that a server shows now; for machines whose first key is to be trusted.
  std::function<Result<std::string>(const Endpoint&, Deadline)> host_key_of;
  std::string home;                             // benchctl's own: known_hosts.json and ssh_machines.json
  std::string user_home;                        // what ~ means in a key file's path
  std::string controller;                       // "user@host pid N": for whoever finds the lock
  std::string netns;                            // connect from there; empty: our own
  Nanos reach_time = std::chrono::seconds(30);  // for a machine that is kept to answer
};

class SshProvider final : public Provider {
 public:
  explicit SshProvider(SshWorld world);

  // Root is a matter of each machine's user and `become`.
  Capabilities capabilities() const override;
  // Key files are there and are good; connects to nothing.
  Status check(const MachineSpec& spec) override;
  // Reaches every machine whose first host key is to be trusted, records the key and says so.
  Status prepare(const MachineSpec& spec, const std::function<void(const std::string&)>& say) override;
  // The machine of the lease's slot. kInterrupted naming the holder when another run has it; kRejected when no folder
  // there can execute programs or has room.
  Result<Machine> create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) override;
  Result<MachineState> state(Machine& machine) override;
  Status destroy(const Machine& machine) override;
  // From our own book: whatever create() began and destroy() did not prove ended. Connects to nothing.
  Result<std::vector<Machine>> list(const std::string& owner) override;
  Result<std::optional<Price>> price(const MachineSpec&) override { return std::optional<Price>(); }

  // How to reach a machine as its host entry says: key file found, host key pinned. With `say`, a first key may be
  // learnt.
  Result<Endpoint> endpoint_of(const SshHost& host, const std::function<void(const std::string&)>& say);

 private:
  Result<CommandResult> run_script(const Endpoint& endpoint, const std::string& script,
                                   const std::vector<std::string>& arguments);
  Result<std::string> pin_of(const SshHost& host, const Endpoint& endpoint,
                             const std::function<void(const std::string&)>& say);

  SshWorld world_;
  KnownHosts known_hosts_;
  SshBook book_;
};

}  // namespace benchctl
