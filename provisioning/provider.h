// The contract of a provider: what the lifecycle needs and nothing more. No waiting, no SSH, no flags, no retrying
// inside: those are written once, in lifecycle.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/result.h"
#include "provisioning/ssh_host.h"

namespace benchctl {

struct Capabilities {
  bool disposable = false;  // machines are made and destroyed by us
  bool billable = false;    // leaking one costs money
  bool root = false;        // the agent runs as root there
  bool isolated = false;    // does not share cores with the controller or a sibling: numbers may be published
  bool reroll = false;      // asking again may give other hardware
};

// One machine's shape, resolved from [fleet.NAME].
struct MachineSpec {
  std::string provider;
  std::string fleet;
  std::vector<std::string> regions;  // in order of preference
  std::string size;
  std::string image;
  std::string arch;  // x86_64 | aarch64
  std::map<std::string, std::string>
      options;                 // the provider's own keys: nspawn {cpus="0-1", memory="1GiB", disk="2GiB"}
  std::vector<SshHost> hosts;  // provider ssh: the machine of each slot
};

// Written and synced before anything is created. The nonce makes create idempotent and orphans findable.
struct Lease {
  std::string nonce;  // random, [a-z0-9]{12}
  std::string run;
  std::string owner;  // UUID of this store
  std::string fleet;
  int slot = 0;
  std::string name;  // bc-<nonce>: the machine's name at the provider
  int64_t expires_unix = 0;
};

// How the controller reaches a machine.
struct Endpoint {
  enum class Kind { kSsh, kLocal } kind = Kind::kSsh;
  std::string host;  // address, v4 or v6
  int port = 22;
  std::string user = "root";
  std::string netns;     // path of a network namespace to connect from; empty: our own
  std::string work_dir;  // where the agent lives on the machine
  // Of a machine that existed before us:
  std::string key_file;  // the client key to use, on this computer; empty: the run's own
  std::string host_key;  // "SHA256:…" that it must show; empty: the one that it was born with
  std::string become;    // "sudo": commands run as root through it
};

enum class MachineState { kPending, kRunning, kStopped, kGone };

struct Machine {
  std::string provider;
  std::string id;  // the provider's own id
  std::string name;
  std::string nonce;
  std::string run;
  std::string owner;
  int64_t expires_unix = 0;          // 0: unknown
  std::optional<Endpoint> endpoint;  // absent until the provider knows an address
  bool same_kernel = false;          // runs on this computer's own kernel after all: not isolated, whatever is promised
};

// What the machine must be born with: see cloud_init/user_data.h.
struct Bootstrap {
  std::string user_data;  // #cloud-config
  std::string marker;     // the file that says that user-data has been carried out
};

struct Price {
  double per_hour = 0;
  std::string currency = "USD";
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual Capabilities capabilities() const = 0;
  // Can this spec be had here at all? Names what is missing and how to get it.
  virtual Status check(const MachineSpec& spec) = 0;
  // Makes sure that shared things (a base image) exist. May take minutes; `say` gets a line of progress now and then.
  virtual Status prepare(const MachineSpec& spec, const std::function<void(const std::string&)>& say) = 0;
  // The same lease gives the same machine, however often it is called.
  virtual Result<Machine> create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) = 0;
  // kGone when it does not exist; the machine's endpoint is filled in once known.
  virtual Result<MachineState> state(Machine& machine) = 0;
  // Absent is success. Returns before the machine is gone where the provider works so; ask state().
  virtual Status destroy(const Machine& machine) = 0;
  // Every machine of this owner, known to a store or not; all owners when empty.
  virtual Result<std::vector<Machine>> list(const std::string& owner) = 0;
  virtual Result<std::optional<Price>> price(const MachineSpec& spec) = 0;  // nullopt: free of charge
};

}  // namespace benchctl
