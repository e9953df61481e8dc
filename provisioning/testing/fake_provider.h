// A cloud in memory on a clock of the test's, and a decorator that fails one thing on demand. For tests and simulation.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/clock.h"
#include "provisioning/provider.h"

namespace benchctl {

struct FakeCloud {
  Capabilities can{.disposable = true, .billable = true, .root = true, .isolated = true, .reroll = true};
  Nanos boot_time = std::chrono::seconds(20);
  Nanos address_time = std::chrono::seconds(25);  // when a running machine gets its address
  Nanos list_lag = std::chrono::seconds(0);       // until a new machine shows in list() and state()
  Nanos destroy_time = std::chrono::seconds(2);   // until a destroyed machine is gone
  int ignored_destroys = 0;                       // accepted, without effect
  std::string stocked_out;                        // a region that has none
};

class FakeProvider final : public Provider {
 public:
  FakeProvider(Clock& clock, FakeCloud cloud) : cloud_(std::move(cloud)), clock_(clock) {}

  Capabilities capabilities() const override { return cloud_.can; }
  Status check(const MachineSpec&) override { return {}; }
  Status prepare(const MachineSpec&, const std::function<void(const std::string&)>&) override { return {}; }
  Result<Machine> create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) override;
  Result<MachineState> state(Machine& machine) override;
  Status destroy(const Machine& machine) override;
  Result<std::vector<Machine>> list(const std::string& owner) override;
  Result<std::optional<Price>> price(const MachineSpec&) override { return std::optional<Price>(Price{0.01, "USD"}); }

  // The truth, whatever list() says: machines that exist, and how many were ever made.
  int64_t existing();
  int64_t made() const { return made_; }
  bool stands(const std::string& name);
  // Puts a machine there behind everybody's back: another owner's, or one without a tag.
  void plant(const Machine& machine) {
    machines_[machine.nonce] = Entry{machine, clock_.now() - std::chrono::hours(1)};
  }
  FakeCloud& cloud() { return cloud_; }

 private:
  struct Entry {
    Machine machine;
    Nanos created{0};
    Nanos gone_at{Nanos::max()};
  };
  bool visible(const Entry& entry);
  void settle();

  FakeCloud cloud_;
  Clock& clock_;
  std::map<std::string, Entry> machines_;  // by nonce
  int64_t made_ = 0;
};

// Forwards everything; the next calls of one kind fail as asked.
class FaultyProvider final : public Provider {
 public:
  enum class Call { kCreate, kState, kDestroy, kList };
  enum class When { kBefore, kAfter };  // kAfter: the thing is done, the answer is lost

  explicit FaultyProvider(Provider& inner) : inner_(inner) {}
  void fail_next(Call call, When when, Error error, int times = 1) {
    for (int i = 0; i < times; ++i) faults_[call].push_back({when, error});
  }
  int calls(Call call) { return calls_[call]; }
  int injected() const { return injected_; }

  Capabilities capabilities() const override { return inner_.capabilities(); }
  Status check(const MachineSpec& spec) override { return inner_.check(spec); }
  Status prepare(const MachineSpec& spec, const std::function<void(const std::string&)>& say) override {
    return inner_.prepare(spec, say);
  }
  Result<Machine> create(const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap) override {
    return call<Result<Machine>>(Call::kCreate, [&] { return inner_.create(spec, lease, bootstrap); });
  }
  Result<MachineState> state(Machine& machine) override {
    return call<Result<MachineState>>(Call::kState, [&] { return inner_.state(machine); });
  }
  Status destroy(const Machine& machine) override {
    return call<Status>(Call::kDestroy, [&] { return inner_.destroy(machine); });
  }
  Result<std::vector<Machine>> list(const std::string& owner) override {
    return call<Result<std::vector<Machine>>>(Call::kList, [&] { return inner_.list(owner); });
  }
  Result<std::optional<Price>> price(const MachineSpec& spec) override { return inner_.price(spec); }

 private:
  template <typename R, typename F>
  R call(Call kind, F&& forward) {
    ++calls_[kind];
    auto& queue = faults_[kind];
    if (queue.empty()) return forward();
    auto [when, error] = queue.front();
    queue.pop_front();
    ++injected_;
    if (when == When::kAfter) (void)forward();
    return error;
  }

  Provider& inner_;
  std::map<Call, std::deque<std::pair<When, Error>>> faults_;
  std::map<Call, int> calls_;
  int injected_ = 0;
};

}  // namespace benchctl
