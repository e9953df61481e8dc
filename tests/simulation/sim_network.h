// A provider that stumbles, and the network to its machines.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "controller/fleet/stop.h"
#include "provisioning/testing/fake_provider.h"
#include "provisioning/transport.h"
#include "tests/simulation/sim_machine.h"

namespace benchctl::simulation {

// FakeProvider with faults of the schedule's weather, and a machine with an agent behind each one that it makes.
class SimProvider final : public Provider {
 public:
  SimProvider(Clock& clock, Faults& faults, const std::string& mutant);

  Capabilities capabilities() const override { return cloud_.capabilities(); }
  Status check(const MachineSpec&) override { return {}; }
  Status prepare(const MachineSpec&, const std::function<void(const std::string&)>&) override { return {}; }
  Result<Machine> create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) override;
  Result<MachineState> state(Machine& machine) override;
  Status destroy(const Machine& machine) override;
  Result<std::vector<Machine>> list(const std::string& owner) override;
  Result<std::optional<Price>> price(const MachineSpec& spec) override { return cloud_.price(spec); }

  // nullptr: never made, or gone.
  SimMachine* find(const std::string& host);
  int64_t existing() { return cloud_.existing(); }
  int64_t made() const { return cloud_.made(); }
  const std::map<std::string, std::unique_ptr<SimMachine>>& machines() const { return machines_; }
  // Started hours of every machine so far, in money.
  double cost();
  // The most of one slot that ever stood at one time.
  int64_t most_at_once() const { return most_at_once_; }

 private:
  struct Life {
    int slot = 0;
    Nanos begin{0};
    std::optional<Nanos> end;
  };
  void look();

  Clock& clock_;
  Faults& faults_;
  bool believes_destroy_;  // the mutant "state"
  std::string mutant_;     // handed on to the machines
  std::set<std::string> destroyed_;
  FakeProvider cloud_;
  std::map<std::string, std::unique_ptr<SimMachine>> machines_;  // by name
  std::map<std::string, Life> lives_;
  int64_t most_at_once_ = 0;
};

class SimConnector final : public Connector {
 public:
  SimConnector(SimProvider& provider, Clock& clock, Faults& faults, std::function<void()> wish_to_stop)
      : provider_(provider), clock_(clock), faults_(faults), wish_to_stop_(std::move(wish_to_stop)) {}
  Result<std::unique_ptr<Transport>> connect(const ConnectRequest& request) override;

 private:
  SimProvider& provider_;
  Clock& clock_;
  Faults& faults_;
  std::function<void()> wish_to_stop_;
};

}  // namespace benchctl::simulation
