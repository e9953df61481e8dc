// The concrete parts, put together once: nothing else names a provider, a store engine or a transport.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/cli/context.h"
#include "controller/fleet/lease_book.h"
#include "controller/fleet/run_context.h"
#include "controller/store/store.h"
#include "controller/workloads/workload.h"

namespace benchctl {

class SshConnector;

// As long as a plan's longest time to live: whoever forgets a machine must not keep it for ever.
constexpr int64_t kLongestKeepMs = int64_t{7} * 24 * 3'600'000;

class Parts {
 public:
  explicit Parts(Context& context);
  ~Parts();

  Result<Store*> store();  // opened at the first call
  Provider* provider(const std::string& name);
  std::vector<std::string> provider_names() const { return {"nspawn", "local", "ssh"}; }
  // Is the plan within the operator's policy? `untrusted`: --untrusted was said.
  Status check_policy(const Plan& plan, bool untrusted);
  Connector& connector();
  Result<std::vector<Workload>> workloads();

  std::string store_path() const { return context_.home + "/store.sqlite3"; }
  std::string keys_dir(const std::string& run) const { return context_.home + "/keys/" + run; }
  std::string runs_dir() const { return context_.home + "/runs"; }

  Result<SshIdentity> make_identity();
  // The run's client key, 0600, outside the store; removed when its machines are gone.
  Result<SshIdentity> new_run_identity(const std::string& run);
  // The key that the run's machines know.
  Result<SshIdentity> kept_run_identity(const std::string& run);
  // The same where it still is; a new one when it was removed with the run's machines.
  Result<SshIdentity> run_identity(const std::string& run);
  Status forget_run_identity(const std::string& run);

 private:
  Context& context_;
  std::unique_ptr<Store> store_;
  std::map<std::string, std::unique_ptr<Provider>> providers_;
  std::unique_ptr<SshConnector> ssh_;
  std::unique_ptr<Connector> connector_;
};

// The run meant by a word of the command line: an id, a unique prefix of one, or the latest run when empty.
Result<RunRow> find_run(Store& store, const std::string& word);

// What reaping needs: the providers that can work here, and the store's journal of leases.
std::map<std::string, Provider*> usable_providers(Parts& parts);
StoreBook lease_book(Store& store, Parts& parts);

// Whoever executes a run on this store now, from the lock file; nullopt when nobody does.
struct LockHolder {
  std::string words;
  std::string run;
  int pid = 0;
};
Result<std::optional<LockHolder>> lock_holder(Store& store);

// The id of the run that attach and cancel mean: as find_run(), but also one that is executed and does not stand in the
// store yet, since its programs are still being built; and when empty, the one that is executed before the latest.
Result<std::string> run_to_follow(Store& store, const std::string& word);

}  // namespace benchctl
