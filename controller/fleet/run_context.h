// Everything a run needs and what it may touch; made by the command line, or by a test with fakes.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/fleet/progress.h"
#include "controller/fleet/stop.h"
#include "controller/plan/plan.h"
#include "controller/store/store.h"
#include "controller/workloads/workload.h"
#include "lib/clock.h"
#include "lib/failpoint.h"
#include "lib/wire/harden.h"
#include "provisioning/provider.h"
#include "provisioning/transport.h"

namespace benchctl {

// A bundle on this computer, ready to be shipped.
struct LocalBundle {
  std::string sha256;  // of its manifest
  std::string folder;
  Json manifest = Json::object();  // bundle.json; of a program of the user's own without arch
};

struct RunInput {
  std::string id;      // run id
  std::string folder;  // <folder>/machines/<name>/<unit>/… receives the raw files
  Plan plan;
  std::vector<Workload> workloads;
  std::map<std::string, LocalBundle> bundles;  // BundleNeed::key -> what it runs from
  std::map<std::string, std::string> unbuilt;  // the same -> why there is no bundle of it
  std::map<std::string, std::string> unfit;    // the same, of one machine (seen_by) -> why it cannot run there
  std::string agent_binary;
  SshIdentity identity;                 // of this run, kept outside the store
  int64_t keep_ms = 0;                  // machines are kept this long after the run
  bool resume = false;                  // an earlier controller began it
  std::optional<HardenProfile> harden;  // machines are made quiet by it, and those that are kept put back
};

// The parts of the world a run acts on. All outlive the run.
struct RunWorld {
  Store& store;
  std::function<Provider*(const std::string& name)> provider;  // nullptr: not available
  std::function<Result<SshIdentity>()> make_identity;          // a fresh key pair, for a machine's first host key
  std::function<std::string()> new_nonce;                      // [a-z0-9]{12}, never the same twice
  // Blocks (bounded by the deadline) until no other trial runs on this computer; the lock is held by the result.
  std::function<Result<FileLock>(Deadline)> host_turn;
  Connector& connector;
  Clock& clock;
  Failpoints& failpoints;
  Progress& progress;
  StopRequest& stop;
};

}  // namespace benchctl
