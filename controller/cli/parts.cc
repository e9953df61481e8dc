#include "controller/cli/parts.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "controller/policy/policy.h"
#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/providers/local.h"
#include "provisioning/providers/nspawn.h"
#include "provisioning/providers/ssh.h"
#include "provisioning/ssh/local_transport.h"
#include "provisioning/ssh/ssh_transport.h"

namespace benchctl {

namespace {

// Where the store, the keys and the results are: it must be there, ours, and closed to everybody's writing.
Status check_home(const std::string& home) {
  const std::string shown = sanitize(home, 400), advice = "; or set BENCHCTL_HOME to a folder of your own";
  auto refused = [&](const std::string& why) {
    return Error{ErrorKind::kUsage, "home folder " + shown + ": " + why + advice};
  };
  if (auto made = make_dirs(home); !made) return refused(made.error().message);
  struct stat st {};
  if (stat(home.c_str(), &st) != 0) return refused(std::strerror(errno));
  if (st.st_uid != geteuid())
    return refused("it belongs to user " + std::to_string(st.st_uid) + ", who could lead our files astray");
  if ((st.st_mode & 002) != 0) return refused("everybody may write there: chmod o-w " + shell_quote(shown));
  if (access(home.c_str(), R_OK | W_OK | X_OK) != 0)
    return refused(std::string("we cannot write there: ") + std::strerror(errno));
  return {};
}

}  // namespace

Parts::Parts(Context& context) : context_(context) {}
Parts::~Parts() = default;

Result<Store*> Parts::store() {
  if (!store_) {
    BENCHCTL_CHECK(check_home(context_.home));
    BENCHCTL_TRY(store_, open_store({store_path(), context_.failpoints.get()}, *context_.clock));
  }
  return store_.get();
}

Provider* Parts::provider(const std::string& name) {
  auto& place = providers_[name];
  if (!place && name == "nspawn")
    place =
        std::make_unique<NspawnProvider>(NspawnDirs{.cache = context_.cache}, *context_.clock, *context_.failpoints);
  if (!place && name == "local") place = std::make_unique<LocalProvider>(context_.local_dir, *context_.clock);
  if (!place && name == "ssh") {
    connector();
    passwd* us = getpwuid(geteuid());
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    place = std::make_unique<SshProvider>(
        SshWorld{*ssh_, *context_.clock,
                 [this](const Endpoint& endpoint, Deadline deadline) { return ssh_->host_key_of(endpoint, deadline); },
                 context_.home, context_.user_home,
                 std::string(us != nullptr ? us->pw_name : "?") + "@" + host + " pid " + std::to_string(getpid())});
  }
  return place.get();
}

Status Parts::check_policy(const Plan& plan, bool untrusted) {
  BENCHCTL_TRY(Policy policy, load_policy(context_.policy, context_.policy_named));
  return benchctl::check_policy(plan, policy, untrusted || context_.untrusted);
}

Connector& Parts::connector() {
  if (!connector_) {
    ssh_ = std::make_unique<SshConnector>(*context_.clock);
    connector_ = std::make_unique<AnyConnector>(*ssh_, *context_.clock);
  }
  return *connector_;
}

Result<std::vector<Workload>> Parts::workloads() {
  return load_workloads(context_.source_root + "/workloads");
}

Result<SshIdentity> Parts::make_identity() {
  return make_ssh_identity("benchctl", *context_.clock);
}

Result<SshIdentity> Parts::new_run_identity(const std::string& run) {
  BENCHCTL_TRY(SshIdentity identity, make_identity());
  BENCHCTL_CHECK(make_dirs(keys_dir(run)));
  BENCHCTL_CHECK(write_atomic(keys_dir(run) + "/client", identity.private_key, 0600));
  BENCHCTL_CHECK(write_atomic(keys_dir(run) + "/client.pub", identity.public_key, 0600));
  return identity;
}

Result<SshIdentity> Parts::run_identity(const std::string& run) {
  return exists(keys_dir(run) + "/client.pub") ? kept_run_identity(run) : new_run_identity(run);
}

Result<SshIdentity> Parts::kept_run_identity(const std::string& run) {
  SshIdentity identity;
  BENCHCTL_TRY(identity.private_key, read_file(keys_dir(run) + "/client", 64 << 10));
  BENCHCTL_TRY(identity.public_key, read_file(keys_dir(run) + "/client.pub", 64 << 10));
  return identity;
}

Status Parts::forget_run_identity(const std::string& run) {
  return remove_tree(keys_dir(run));
}

Result<RunRow> find_run(Store& store, const std::string& word) {
  if (word.empty()) {
    BENCHCTL_TRY(auto latest, store.latest_run());
    if (!latest)
      return Error{ErrorKind::kUsage, "there is no run yet; begin with: benchctl run --plan plans/local.toml"};
    return *latest;
  }
  BENCHCTL_TRY(auto runs, store.runs());
  std::vector<RunRow> matching;
  for (RunRow& run : runs) {
    if (run.id == word) return run;
    if (run.id.starts_with(word)) matching.push_back(std::move(run));
  }
  if (matching.size() == 1) return matching.front();
  if (matching.size() > 1)
    return Error{ErrorKind::kUsage,
                 "\"" + word + "\" is the beginning of " + std::to_string(matching.size()) + " runs: write more of it"};
  // Its error names the nearest id.
  auto missing = store.run(word);
  if (missing) return missing;
  return Error{missing.error().kind, missing.error().message + "; benchctl status lists them"};
}

Result<std::string> run_to_follow(Store& store, const std::string& word) {
  BENCHCTL_TRY(auto holder, lock_holder(store));
  if (holder && !holder->run.empty() && (word.empty() || holder->run == word)) return holder->run;
  BENCHCTL_TRY(RunRow run, find_run(store, word));
  return run.id;
}

std::map<std::string, Provider*> usable_providers(Parts& parts) {
  std::map<std::string, Provider*> providers;
  for (const std::string& name : parts.provider_names()) {
    MachineSpec spec;
    spec.provider = name;
    // One that cannot work here has nothing to list either.
    if (parts.provider(name)->check(spec)) providers[name] = parts.provider(name);
  }
  return providers;
}

StoreBook lease_book(Store& store, Parts& parts) {
  auto executing = [&store](const std::string& run) -> Result<bool> {
    BENCHCTL_TRY(auto holder, lock_holder(store));
    return holder && holder->run == run;
  };
  auto kept = [&parts](const std::string& name) {
    Provider* provider = parts.provider(name);
    return provider != nullptr && !provider->capabilities().disposable;
  };
  return StoreBook(store, executing, kept);
}

Result<std::optional<LockHolder>> lock_holder(Store& store) {
  auto mine = store.lock("");
  // Who has it for an instant only, or has just begun, has not said its name yet.
  for (int again = 0; !mine && again < 40 && mine.error().message.find("did not say its name") != std::string::npos;
       ++again) {
    SystemClock().sleep(std::chrono::milliseconds(50));
    mine = store.lock("");
  }
  if (mine) return std::optional<LockHolder>();
  if (mine.error().kind != ErrorKind::kInterrupted) return mine.error();
  // "store PATH is held by run R, pid P on HOST, since T", where the path may hold any of these words.
  LockHolder holder;
  holder.words = mine.error().message;
  const std::string held_by = " is held by ";
  const size_t at = holder.words.rfind(held_by);
  const std::string said = at == std::string::npos ? "" : holder.words.substr(at + held_by.size());
  auto word_after = [&](const std::string& before) -> std::string {
    size_t begin = said.find(before);
    if (begin == std::string::npos) return "";
    std::string rest = said.substr(begin + before.size());
    return rest.substr(0, rest.find_first_of(", "));
  };
  if (said.starts_with("run ")) holder.run = word_after("run ");
  holder.pid = static_cast<int>(parse_int(word_after(", pid ")).value_or(0));
  if (holder.pid <= 1) return Error{ErrorKind::kInternal, "cannot read who holds the store: " + holder.words};
  return std::optional<LockHolder>(holder);
}

}  // namespace benchctl
