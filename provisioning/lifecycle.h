// What is the same for every provider, written once: create, wait, adopt, destroy until gone, reap. No machine is ever
// leaked: the lease is in the book, synced, before anything here creates; a create whose outcome is unknown is looked
// up by its nonce and never blindly repeated; gone means proved gone.
//
// How a provider's errors are read: kUsage will never work (request, credentials, quota) and ends the attempt;
// kRejected cannot be had in this region, the next one is tried; everything else leaves the outcome unknown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/result.h"
#include "provisioning/provider.h"

namespace benchctl {

// Creates the machine of a lease that the caller has recorded, in the first region that has one, and waits until it
// runs and has an endpoint. After an error the machine may exist: release() it.
Result<Machine> acquire(Provider& provider, const MachineSpec& spec, const Lease& lease, const Bootstrap& bootstrap,
                        Clock& clock, Deadline deadline);

// Destroys until the machine is neither known by state() nor listed (for what costs money: twice in succession, and a
// create whose answer we never had is looked for over two minutes). `machine` needs provider, name, nonce, run and
// owner; the id where it is known. kLeaked with the ids and the command that tries again when the deadline comes first.
Status release(Provider& provider, const Machine& machine, Clock& clock, Deadline deadline);

// The journal of leases, kept by the controller.
struct BookedMachine {
  Lease lease;
  std::string provider;
  std::string id;             // the provider's; empty while unknown
  bool confirmed = false;     // create has answered
  bool run_finished = false;  // nothing will be resumed
  int64_t keep_until_unix = 0;
};

class LeaseBook {
 public:
  virtual ~LeaseBook() = default;
  // Machines that are not recorded as gone, of all runs.
  virtual Result<std::vector<BookedMachine>> open() = 0;
  // A living controller executes this run.
  virtual Result<bool> executing(const std::string& run) = 0;
  virtual Status gone(const std::string& nonce) = 0;
};

struct ReapOptions {
  std::string owner;  // ours; never empty: what bears another's tag, or none, is not touched
  std::string run;    // only this run's machines, all of them; empty: whatever is due
  int64_t now_unix = 0;
  bool dry_run = false;
  Nanos time_per_machine = std::chrono::minutes(5);
};

enum class ReapAction { kLeft, kWouldDestroy, kDestroyed, kFailed };

struct Reaped {
  Machine machine;
  ReapAction action = ReapAction::kLeft;
  std::string why;  // "expired", "run finished", …; with kFailed the error
};

// Goes through the journal and through what the providers list under our tag. Destroys what is expired, what was
// announced and never confirmed, and what finished runs left, unless it is kept or a living controller executes its
// run; what can still be resumed is left until it expires. A provider that cannot be asked is a failure without a
// machine's name among the results, and the others are dealt with.
Result<std::vector<Reaped>> reap(const std::map<std::string, Provider*>& providers, LeaseBook& book,
                                 const ReapOptions& options, Clock& clock);

}  // namespace benchctl
