// This computer as it is, without root: a machine is a private folder, nothing is made quiet and nothing is disposable
// but the folder.
#pragma once

#include <string>
#include <vector>

#include "lib/clock.h"
#include "provisioning/machine_tag.h"
#include "provisioning/provider.h"

namespace benchctl {

class LocalProvider final : public Provider {
 public:
  // `base`: absolute; holds one folder a machine, named by its tag, 0700.
  LocalProvider(std::string base, Clock& clock) : base_(std::move(base)), clock_(clock) {}

  Capabilities capabilities() const override;
  Status check(const MachineSpec& spec) override;
  Status prepare(const MachineSpec&, const std::function<void(const std::string&)>&) override { return {}; }
  Result<Machine> create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) override;
  Result<MachineState> state(Machine& machine) override;
  // Ends what runs from the folder, then removes it. Nobody else's process is touched: see processes_of().
  Status destroy(const Machine& machine) override;
  Result<std::vector<Machine>> list(const std::string& owner) override;
  Result<std::optional<Price>> price(const MachineSpec&) override { return std::optional<Price>(); }

 private:
  Result<std::vector<MachineTag>> tags() const;

  std::string base_;
  Clock& clock_;
};

// Processes that belong to the folder: their program lies below it (the agent, a workload), or they carry the scratch
// folder that the agent gave to a trial. A shell that merely stands in the folder does not belong to it.
std::vector<int> processes_of(const std::string& folder);

}  // namespace benchctl
