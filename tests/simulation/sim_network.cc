#include "tests/simulation/sim_network.h"

#include <algorithm>
#include <cmath>

namespace benchctl::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Error stumble(const std::string& what) {
  return Error{ErrorKind::kProvisioning, "simulated: " + what};
}

FakeCloud cloud_of(Faults& faults) {
  FakeCloud cloud;
  if (faults.happens("list lags")) cloud.list_lag = seconds(faults.dice().below(60));
  if (faults.happens("no address")) cloud.address_time = std::chrono::hours(100);
  return cloud;
}

class SimTransport final : public Transport {
 public:
  SimTransport(SimProvider& provider, std::string host, int boot, Clock& clock, Faults& faults,
               const std::function<void()>& wish_to_stop)
      : provider_(provider),
        host_(std::move(host)),
        boot_(boot),
        clock_(clock),
        faults_(faults),
        wish_to_stop_(wish_to_stop) {}

  Result<CommandResult> run(const std::vector<std::string>& argv, const RunOptions& options) override {
    ++counts_.channels;
    if (dead_) return stumble("connect again");
    clock_.sleep(milliseconds(20 + faults_.dice().below(200)));
    if (faults_.happens("wish to stop")) wish_to_stop_();
    if (faults_.happens("link cut before a command")) dead_ = true;
    if (!dead_ && (dropped() || faults_.happens("command hangs"))) {
      clock_.sleep(std::min<Nanos>(options.deadline.left(clock_), seconds(75)));
      dead_ = true;
    }
    if (dead_) return stumble("the link was cut");
    SimMachine* machine = provider_.find(host_);
    auto result = machine->run(argv, options, [&] { return dead_ || dropped(); });
    if (!result && result.error().kind == ErrorKind::kProvisioning) dead_ = true;
    if (result && faults_.happens("link cut after a command")) {
      dead_ = true;
      return stumble("the link was cut after the command");
    }
    return result;
  }
  TransportCounts counts() const override { return counts_; }
  void interrupt() override { dead_ = true; }

 private:
  bool dropped() {
    SimMachine* machine = provider_.find(host_);
    return machine == nullptr || !machine->reachable() || machine->boots() != boot_;
  }

  SimProvider& provider_;
  std::string host_;
  int boot_;
  Clock& clock_;
  Faults& faults_;
  const std::function<void()>& wish_to_stop_;
  bool dead_ = false;
  TransportCounts counts_{.connects = 1};
};

}  // namespace

SimProvider::SimProvider(Clock& clock, Faults& faults, const std::string& mutant)
    : clock_(clock),
      faults_(faults),
      believes_destroy_(mutant == "state"),
      mutant_(mutant),
      cloud_(clock, cloud_of(faults)) {}

void SimProvider::look() {
  std::map<int, int64_t> standing;
  for (auto& [name, life] : lives_) {
    if (!life.end && find(name) == nullptr) life.end = clock_.now();
    if (!life.end) most_at_once_ = std::max(most_at_once_, ++standing[life.slot]);
  }
}

SimMachine* SimProvider::find(const std::string& host) {
  auto machine = machines_.find(host);
  return machine == machines_.end() || !cloud_.stands(host) ? nullptr : machine->second.get();
}

Result<Machine> SimProvider::create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) {
  clock_.sleep(seconds(1));
  if (faults_.happens("create fails before")) return stumble("500 before the machine was made");
  auto made = cloud_.create(spec, lease, bootstrap);
  if (!made) return made;
  if (machines_.count(lease.name) == 0) {
    std::string text = bootstrap.user_data.substr(bootstrap.user_data.find('\n') + 1);
    auto config = Json::parse(text);
    std::string key = config ? (*config)["ssh_keys"]["ed25519_public"].as_string() : "";
    machines_[lease.name] = std::make_unique<SimMachine>(lease.name, key, clock_, faults_, mutant_);
    lives_[lease.name] = {lease.slot, clock_.now(), std::nullopt};
  }
  look();
  if (faults_.happens("create fails after")) return stumble("504 after the machine was made");
  return made;
}

Result<MachineState> SimProvider::state(Machine& machine) {
  clock_.sleep(milliseconds(200));
  look();
  if (faults_.happens("state fails")) return stumble("500");
  if (believes_destroy_ && destroyed_.count(machine.nonce) != 0) return MachineState::kGone;
  return cloud_.state(machine);
}

Status SimProvider::destroy(const Machine& machine) {
  clock_.sleep(milliseconds(200));
  if (faults_.happens("destroy fails")) return stumble("500");
  destroyed_.insert(machine.nonce);
  if (faults_.happens("destroy ignored")) return {};
  return cloud_.destroy(machine);
}

Result<std::vector<Machine>> SimProvider::list(const std::string& owner) {
  clock_.sleep(milliseconds(200));
  look();
  if (faults_.happens("list fails")) return stumble("500");
  auto machines = cloud_.list(owner);
  if (believes_destroy_ && machines)
    std::erase_if(*machines, [&](const Machine& machine) { return destroyed_.count(machine.nonce) != 0; });
  return machines;
}

double SimProvider::cost() {
  look();
  double sum = 0;
  for (const auto& [name, life] : lives_) {
    double hours =
        std::chrono::duration<double, std::ratio<3600>>(life.end.value_or(clock_.now()) - life.begin).count();
    sum += 0.01 * std::max(1.0, std::ceil(hours));
  }
  return sum;
}

Result<std::unique_ptr<Transport>> SimConnector::connect(const ConnectRequest& request) {
  const std::string& host = request.endpoint.host;
  while (true) {
    clock_.sleep(milliseconds(300));
    SimMachine* machine = provider_.find(host);
    bool refused = machine == nullptr || !machine->reachable() || faults_.happens("connecting fails");
    if (!refused) {
      if (machine->host_key_pin() != request.host_key || faults_.happens("wrong host key"))
        return stumble("host key instead of the pinned " + request.host_key);
      return std::unique_ptr<Transport>(
          std::make_unique<SimTransport>(provider_, host, machine->boots(), clock_, faults_, wish_to_stop_));
    }
    if (request.deadline.passed(clock_)) return stumble("cannot connect to " + host);
    clock_.sleep(std::min<Nanos>(request.deadline.left(clock_), seconds(2)));
  }
}

}  // namespace benchctl::simulation
