#include "controller/cli/parts.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/providers/local.h"
#include "provisioning/providers/nspawn.h"
#include "provisioning/providers/ssh.h"
#include "provisioning/ssh/local_transport.h"
#include "provisioning/ssh/ssh_transport.h"

namespace benchctl {

Parts::Parts(Context& context) : context_(context) {}
Parts::~Parts() = default;

Result<Store*> Parts::store() {
  if (!store_) {
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
  return store.run(word);  // its error names the nearest id
}

Result<std::optional<LockHolder>> lock_holder(Store& store) {
  auto mine = store.lock("");
  if (mine) return std::optional<LockHolder>();
  if (mine.error().kind != ErrorKind::kInterrupted) return mine.error();
  // "store PATH is held by run R, pid P on HOST, since T"
  LockHolder holder;
  holder.words = mine.error().message;
  auto word_after = [&](const std::string& before) -> std::string {
    size_t at = holder.words.find(before);
    if (at == std::string::npos) return "";
    std::string rest = holder.words.substr(at + before.size());
    return rest.substr(0, rest.find_first_of(", "));
  };
  holder.run = word_after("held by run ");
  holder.pid = static_cast<int>(parse_int(word_after("pid ")).value_or(0));
  if (holder.pid <= 1) return Error{ErrorKind::kInternal, "cannot read who holds the store: " + holder.words};
  return std::optional<LockHolder>(holder);
}

}  // namespace benchctl
