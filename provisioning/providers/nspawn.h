// A disposable full Debian on this computer, by systemd-nspawn: private users, its own cgroups, mounts, processes and
// network, an ext4 work directory on disk. Needs root. Everything of a machine lives in namespaces that end with its
// processes, in cgroups and in one folder that carry its tag: nothing else has to be remembered to remove it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/failpoint.h"
#include "provisioning/machine_tag.h"
#include "provisioning/provider.h"

namespace benchctl {

struct NspawnOptions {
  std::string cache = "/var/cache/benchctl";         // images/<sha256 of recipe>
  std::string state = "/var/lib/benchctl/machines";  // <tag>/; not below /run
  Failpoints* failpoints =
      nullptr;  // reached at "nspawn:folder", ":cgroups", ":disk", ":seed", ":launched", ":started"
};

// fleet options: cpus = "0-1" (a CPU list), memory = "1GiB", disk = "2GiB" (the work directory), root = "1GiB" (what
// the machine may write elsewhere; it is memory).
class NspawnProvider final : public Provider {
 public:
  NspawnProvider(NspawnOptions options, Clock& clock) : options_(std::move(options)), clock_(clock) {}

  Capabilities capabilities() const override;
  Status check(const MachineSpec& spec) override;
  Status prepare(const MachineSpec& spec, const std::function<void(const std::string&)>& say) override;
  Result<Machine> create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) override;
  Result<MachineState> state(Machine& machine) override;
  Status destroy(const Machine& machine) override;
  Result<std::vector<Machine>> list(const std::string& owner) override;
  Result<std::optional<Price>> price(const MachineSpec& spec) override;

  // What the machine printed while it started and booted, at most 256 KiB; hostile text.
  std::string console(const Machine& machine) const;

 private:
  Status launch(const MachineSpec& spec, const MachineTag& tag, const Bootstrap& bootstrap);
  Result<std::vector<MachineTag>> tags() const;
  Status remove(const std::string& tag);

  Status reach(const char* where);

  NspawnOptions options_;
  Clock& clock_;
};

}  // namespace benchctl
