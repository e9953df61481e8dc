// Rows of the store as values, and their texts. Times are Unix milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/json.h"
#include "lib/result.h"
#include "provisioning/provider.h"

namespace benchctl {

enum class RunOutcome { kRunning, kGood, kFailed, kInterrupted };
std::string_view name_of(RunOutcome outcome);  // running | good | failed | interrupted

struct RunRow {
  std::string id;  // valid_id()
  std::string plan_name;
  std::string plan_sha256;
  std::string plan_text;  // the resolved plan as TOML
  uint64_t seed = 0;      // below 2^63
  int64_t created_ms = 0;
  std::optional<int64_t> finished_ms;
  RunOutcome outcome = RunOutcome::kRunning;
  std::optional<int> exit_code;
  std::string reason;
  std::string folder;  // absolute
  std::string controller_version;
};

enum class MachineRowState { kIntent, kExists, kReleasing, kGone, kReleased, kRejected };
std::string_view name_of(MachineRowState state);  // intent | exists | releasing | gone | released | rejected

struct MachineRow {
  int64_t id = 0;
  Lease lease;  // complete: fit for Provider::create again
  int64_t created_ms = 0;
  MachineSpec spec;
  std::string provider_id;
  std::optional<Endpoint> endpoint;
  MachineRowState state = MachineRowState::kIntent;
  bool isolated = false;
  std::string host_key;   // pinned SHA256:…
  std::string agent_dir;  // the run's folder on the machine
  int64_t keep_until_ms = 0;
  std::string fingerprint;
  std::string hardware;
  std::string reason;
  std::string agent_sha256;  // the agent that runs the job there
  std::string hardening;     // JSON document; empty: not asked for

  // Nothing of it is left to us: destroyed, or given back.
  bool has_left() const { return state == MachineRowState::kGone || state == MachineRowState::kReleased; }
};

struct MachineFacts {
  std::string before;  // JSON documents
  std::string after;
  std::string fingerprint;
  std::string hardware;
  std::string hardened;
};

// A look at the machine before a round; absent where it could not be measured.
struct ProbeRow {
  int64_t event = 0;  // number of the agent's event
  int round = 0;
  int64_t taken_ms = 0;
  std::optional<double> busy;
  std::optional<int64_t> spin_p50_ns, spin_p99_ns, spin_max_ns;
  std::optional<int64_t> steal_jiffies;
  std::optional<double> psi_cpu_some;
};

struct StepRow {
  int64_t seq = 0;
  std::string name;
  int64_t intent_ms = 0;
  std::optional<int64_t> done_ms;  // absent: announced, not known to be done
  bool ok = false;
  std::string detail;
  int64_t channels = 0;
};

struct PointRow {
  std::string hash;  // sha256 of the fields below
  std::string suite;
  std::string workload;
  std::string mode;
  std::string label;  // "workers=4"
  std::string baseline;
  Json params = Json::object();
};

struct BundleRow {
  std::string sha256;
  std::string workload;
  std::string build;
  Json manifest = Json::object();
};

struct TraceRow {
  std::string run;
  std::string suite;
  std::string arm;
  std::string sha256;
  std::string info;  // JSON of --info
};

// An arm that a machine does not run, or runs from another recipe than its first.
struct LeftOutRow {
  std::string suite;
  std::string arm;
  std::string kind;  // not built | not for this machine | another build
  std::string reason;
};

struct TrialRow {
  int64_t id = 0;
  int64_t machine = 0;
  int64_t number = 0;
  std::string suite;
  std::string point;
  std::string arm;
  bool aa_copy = false;
  int round = 0;
  int position = 0;
  int attempt = 1;
  std::string verdict;
  std::string reason;
  int64_t started_ms = 0;
  double seconds = 0;
  std::optional<double> steal_percent;
  std::string folder;  // relative to run.folder
};

struct VerdictCount {
  std::string verdict;
  bool scored = false;  // round > 0
  int64_t trials = 0;
};

Json to_json(const MachineSpec& spec);
Json to_json(const Endpoint& endpoint);
Result<MachineSpec> machine_spec_from_json(const Json& json);
Result<Endpoint> endpoint_from_json(const Json& json);

}  // namespace benchctl
