#include "provisioning/lifecycle.h"

#include <algorithm>
#include <functional>

#include "lib/text.h"

namespace benchctl {
namespace {

// How long a create that we have no answer for may take to show itself.
constexpr std::chrono::seconds kLookUp{120};

// Pauses that grow from 50 ms to 5 s, each up to a quarter longer or shorter, so that many controllers do not ask in
// step. The jitter comes from the nonce: a run can be repeated exactly.
class Pause {
 public:
  Pause(Clock& clock, Deadline deadline, const std::string& nonce)
      : clock_(clock), deadline_(deadline), state_(std::hash<std::string>()(nonce)) {}
  // False when the deadline has passed.
  bool wait() {
    if (deadline_.passed(clock_)) return false;
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    double factor = 0.75 + static_cast<double>(state_ >> 40) / static_cast<double>(1 << 24) / 2;
    auto span = std::chrono::duration_cast<Nanos>(next_ * factor);
    clock_.sleep(std::min(span, std::max<Nanos>(deadline_.left(clock_), std::chrono::milliseconds(1))));
    next_ = std::min<Nanos>(next_ * 8 / 5, std::chrono::seconds(5));
    return true;
  }

 private:
  Clock& clock_;
  Deadline deadline_;
  uint64_t state_;
  Nanos next_ = std::chrono::milliseconds(50);
};

Result<std::optional<Machine>> find_by_nonce(Provider& provider, const std::string& owner, const std::string& nonce) {
  BENCHCTL_TRY(auto machines, provider.list(owner));
  for (auto& machine : machines)
    if (machine.nonce == nonce && machine.owner == owner) return std::optional<Machine>(std::move(machine));
  return std::optional<Machine>();
}

Machine of_lease(const MachineSpec& spec, const Lease& lease) {
  return Machine{spec.provider, "", lease.name, lease.nonce, lease.run, lease.owner, lease.expires_unix, std::nullopt};
}

// The machine that a create without a good answer has made all the same, if it did.
std::optional<Machine> adopt(Provider& provider, const Lease& lease, Clock& clock, Deadline deadline) {
  Nanos span = provider.capabilities().billable ? std::min<Nanos>(kLookUp, deadline.left(clock)) : Nanos{0};
  Pause pause(clock, Deadline::in(clock, span), lease.nonce);
  do {
    auto found = find_by_nonce(provider, lease.owner, lease.nonce);
    if (found && *found) return **found;
  } while (pause.wait());
  return std::nullopt;
}

Result<Machine> create_somewhere(Provider& provider, const MachineSpec& spec, const Lease& lease,
                                 const Bootstrap& bootstrap, Clock& clock, Deadline deadline) {
  std::vector<std::string> regions = spec.regions.empty() ? std::vector<std::string>{""} : spec.regions;
  Error last{ErrorKind::kProvisioning, "no region was tried"};
  for (const auto& region : regions) {
    if (deadline.passed(clock)) break;
    MachineSpec here = spec;
    here.regions = region.empty() ? std::vector<std::string>{} : std::vector<std::string>{region};
    auto made = provider.create(here, lease, bootstrap);
    if (made) return made;
    last = region.empty() ? made.error() : made.error().in("region " + region);
    if (last.kind == ErrorKind::kUsage || last.kind == ErrorKind::kInterrupted) return last;
    if (last.kind == ErrorKind::kRejected) continue;
    if (auto adopted = adopt(provider, lease, clock, deadline)) return *adopted;
  }
  // A machine that is kept and will not do was rejected; one that could not be had was not made.
  bool rejected = last.kind == ErrorKind::kRejected && !provider.capabilities().disposable;
  if (!rejected) last.kind = ErrorKind::kProvisioning;
  return last;
}

}  // namespace

Result<Machine> acquire(Provider& provider, const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap,
                        Clock& clock, Deadline deadline) {
  BENCHCTL_TRY(Machine machine, create_somewhere(provider, spec, lease, bootstrap, clock, deadline));
  bool seen = false;
  std::string last = "it is not running yet";
  Pause pause(clock, deadline, lease.nonce);
  do {
    auto state = provider.state(machine);
    if (!state) {
      if (state.error().kind == ErrorKind::kUsage) return state.error();
      last = state.error().message;  // an API that stumbles is asked again
      continue;
    }
    // Absence says something only of a machine that has been seen: lists and lookups lag behind creation.
    if (*state == MachineState::kGone && seen)
      return Error{ErrorKind::kProvisioning, "machine " + machine.name + " vanished while it started"};
    if (*state == MachineState::kStopped)
      return Error{ErrorKind::kProvisioning, "machine " + machine.name + " stopped while it started"};
    seen = seen || *state != MachineState::kGone;
    if (*state == MachineState::kRunning && machine.endpoint) return machine;
    last = *state == MachineState::kRunning ? "it has no address yet" : "it is not running yet";
  } while (pause.wait());
  return Error{ErrorKind::kProvisioning,
               "machine " + machine.name + " did not come up in time: " + sanitize(last, 400)};
}

Status release(Provider& provider, const Machine& machine, Clock& clock, Deadline deadline) {
  const bool billable = provider.capabilities().billable;
  const int proofs_needed = billable ? 2 : 1;
  // A create that never answered may still be on its way.
  const Deadline not_before = Deadline::in(clock, billable && machine.id.empty() ? Nanos(kLookUp) : Nanos{0});
  Machine target = machine;
  int proofs = 0;
  std::string last = "it is still there";
  Pause pause(clock, deadline, machine.nonce);
  do {
    auto listed = find_by_nonce(provider, machine.owner, machine.nonce);
    if (listed && *listed) target = **listed;
    auto destroyed = provider.destroy(target);
    auto state = provider.state(target);
    auto left = find_by_nonce(provider, machine.owner, machine.nonce);
    if (!destroyed) last = destroyed.error().message;
    if (!state) last = state.error().message;
    if (!left) last = left.error().message;
    bool gone = state && *state == MachineState::kGone && left && !*left;
    proofs = gone ? proofs + 1 : 0;
    if (proofs >= proofs_needed && not_before.passed(clock)) return {};
  } while (pause.wait());
  std::string id = target.id.empty() || target.id == target.name ? "" : " (id " + target.id + ")";
  return Error{ErrorKind::kLeaked, "machine " + machine.name + id + " of provider " + machine.provider +
                                       " could not be proved gone: " + sanitize(last, 400) +
                                       "; try again by: benchctl reap --run " + machine.run};
}

namespace {

// Why the machine is to go; empty: it stays, for `left`.
std::string due(const Machine& machine, const BookedMachine* booked, bool executing, const ReapOptions& options,
                std::string& left) {
  int64_t until = std::max(machine.expires_unix, booked != nullptr ? booked->keep_until_unix : 0);
  bool of_asked_run = !options.run.empty() && machine.run == options.run;
  if (!options.run.empty() && !of_asked_run) return left = "another run's", "";
  if (until > 0 && until <= options.now_unix) return "expired";
  if (executing) return left = "its run is being executed", "";
  if (of_asked_run) return "of run " + options.run;
  if (booked != nullptr && booked->keep_until_unix > options.now_unix) return left = "kept", "";
  if (booked == nullptr) return left = "not in this store's book, and not expired", "";
  if (booked->run_finished) return "its run is finished";
  if (!booked->confirmed) return "announced and never confirmed";
  return left = "its run did not end; remove it now by: benchctl reap --run " + machine.run, "";
}

}  // namespace

Result<std::vector<Reaped>> reap(const std::map<std::string, Provider*>& providers, LeaseBook& book,
                                 const ReapOptions& options, Clock& clock) {
  if (options.owner.empty()) return Error{ErrorKind::kInternal, "reap without an owner"};
  BENCHCTL_TRY(auto booked, book.open());
  std::map<std::string, const BookedMachine*> by_nonce;
  for (const auto& entry : booked) by_nonce[entry.lease.nonce] = &entry;

  std::vector<Machine> candidates;
  std::map<std::string, bool> listed;
  std::vector<Reaped> results;
  for (const auto& [name, provider] : providers) {
    auto machines = provider->list(options.owner);
    if (!machines) {
      Reaped unknown{Machine{}, ReapAction::kFailed, "what it has cannot be listed: " + machines.error().message};
      unknown.machine.provider = name;
      results.push_back(std::move(unknown));
      continue;
    }
    for (auto& machine : *machines) {
      if (machine.owner != options.owner) continue;  // whatever the provider says: never another's
      machine.provider = name;
      listed[machine.nonce] = true;
      candidates.push_back(std::move(machine));
    }
  }
  for (const auto& entry : booked) {
    if (listed.count(entry.lease.nonce) != 0) continue;
    Machine machine = of_lease(MachineSpec{entry.provider}, entry.lease);
    machine.id = entry.id;
    candidates.push_back(machine);
  }

  for (const auto& machine : candidates) {
    auto entry = by_nonce.find(machine.nonce);
    const BookedMachine* in_book = entry == by_nonce.end() ? nullptr : entry->second;
    BENCHCTL_TRY(bool executing, book.executing(machine.run));
    Reaped result{machine, ReapAction::kLeft, ""};
    std::string why = due(machine, in_book, executing, options, result.why);
    auto provider = providers.find(machine.provider);
    if (!why.empty()) {
      result.why = why;
      if (options.dry_run) {
        result.action = ReapAction::kWouldDestroy;
      } else if (provider == providers.end()) {
        result.action = ReapAction::kFailed;
        result.why = "provider " + machine.provider + " is not available here";
      } else if (auto gone = release(*provider->second, machine, clock, Deadline::in(clock, options.time_per_machine));
                 !gone) {
        result.action = ReapAction::kFailed;
        result.why = gone.error().message;
      } else {
        result.action = ReapAction::kDestroyed;
        if (in_book != nullptr) BENCHCTL_CHECK(book.gone(machine.nonce));
      }
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace benchctl
