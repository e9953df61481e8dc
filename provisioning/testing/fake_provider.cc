#include "provisioning/testing/fake_provider.h"

#include <algorithm>

namespace benchctl {

bool FakeProvider::visible(const Entry& entry) {
  return clock_.now() - entry.created >= cloud_.list_lag;
}

void FakeProvider::settle() {
  std::erase_if(machines_, [&](const auto& item) { return clock_.now() >= item.second.gone_at; });
}

int64_t FakeProvider::existing() {
  settle();
  return static_cast<int64_t>(machines_.size());
}

bool FakeProvider::stands(const std::string& name) {
  settle();
  return std::any_of(machines_.begin(), machines_.end(),
                     [&](const auto& item) { return item.second.machine.name == name; });
}

Result<Machine> FakeProvider::create(const MachineSpec& spec, const Lease& lease, const Bootstrap&) {
  settle();
  if (!spec.regions.empty() && spec.regions[0] == cloud_.stocked_out)
    return Error{ErrorKind::kRejected, "no machine of this size left"};
  auto [at, is_new] = machines_.try_emplace(lease.nonce);
  if (is_new) {
    ++made_;
    at->second.created = clock_.now();
    at->second.machine = Machine{
        "fake",      "id-" + std::to_string(made_), lease.name, lease.nonce, lease.run, lease.owner, lease.expires_unix,
        std::nullopt};
  }
  return at->second.machine;
}

Result<MachineState> FakeProvider::state(Machine& machine) {
  settle();
  auto at = machines_.find(machine.nonce);
  if (at == machines_.end() || !visible(at->second)) return MachineState::kGone;
  Nanos age = clock_.now() - at->second.created;
  if (age >= cloud_.address_time) {
    machine.endpoint = Endpoint{};
    machine.endpoint->host = machine.name;
  }
  return age >= cloud_.boot_time ? MachineState::kRunning : MachineState::kPending;
}

Status FakeProvider::destroy(const Machine& machine) {
  settle();
  auto at = machines_.find(machine.nonce);
  if (at == machines_.end() || at->second.gone_at != Nanos::max()) return {};
  if (cloud_.ignored_destroys > 0) {
    --cloud_.ignored_destroys;
    return {};
  }
  at->second.gone_at = clock_.now() + cloud_.destroy_time;
  return {};
}

Result<std::vector<Machine>> FakeProvider::list(const std::string& owner) {
  settle();
  std::vector<Machine> found;
  for (const auto& [nonce, entry] : machines_)
    if (visible(entry) && (owner.empty() || entry.machine.owner == owner)) found.push_back(entry.machine);
  return found;
}

}  // namespace benchctl
