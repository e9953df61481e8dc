// The agent on one machine, spoken to through a Transport. Holds no connection of its own: after a cut the caller makes
// a new Transport and a new AgentClient (use_agent) and goes on from the last event it has seen.
//
// Channels a call (Transport::counts() is the proof, tests/transport gates it):
//   install_agent   1 when it is there already, 2 when it must be sent
//   install_bundle  0 when it is known to be there, 1 when it must be sent (and 1 more for the list of bundles, once,
//                   when install_agent was not called on this client)
//   build           1
//   facts start append_round stop state pull_unit   1 each; pull_unit 0 when `dest` already holds the unit
//   follow          1 for every kFollowSliceSeconds begun
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/clock.h"
#include "lib/pack.h"
#include "lib/result.h"
#include "lib/wire/event.h"
#include "lib/wire/facts.h"
#include "lib/wire/job.h"
#include "lib/wire/machine_build.h"
#include "provisioning/transport.h"

namespace benchctl {

struct AgentState {
  bool running = false;
  int64_t pid = 0;
  int64_t last_event = 0;  // 0: none yet
  bool done = false;
};

struct Installed {
  std::string sha256;     // of the binary, or of the bundle's manifest
  bool uploaded = false;  // false: it was there already
  int64_t bytes = 0;      // sent
};

class AgentClient {
 public:
  static constexpr int64_t kFollowSliceSeconds = 30;

  // `transport` and `clock` must outlive the client. `work_dir` is Endpoint::work_dir, absolute.
  // Like its transport, a client is used from one thread at a time.
  AgentClient(Transport& transport, Clock& clock, std::string work_dir);

  // Paths on the machine.
  std::string agent_path() const;  // W/agent-<sha256>; empty before install_agent or use_agent
  std::string bundles_dir() const { return work_dir_ + "/bundles"; }  // for Job::bundles_dir
  std::string run_dir(const std::string& run) const { return work_dir_ + "/runs/" + run; }

  // Sends the agent to W/agent-<sha256> unless it is there with the right bytes, and proves that it starts there and
  // speaks our versions. kRejected when it cannot be executed there (a noexec mount, another architecture).
  Result<Installed> install_agent(const std::string& binary, Deadline deadline);
  // The agent that an earlier client installed: no channel, nothing checked. For resuming a run with its own agent.
  void use_agent(const std::string& sha256) { agent_sha256_ = sha256; }

  // Sends the folder as W/bundles/<sha256 of its manifest>. Checked by the agent file by file.
  Result<Installed> install_bundle(const std::string& folder, Deadline deadline);

  // Runs the recipe of a bundle of sources that install_bundle() has sent: what came of it, good or not. What it makes
  // lies beside the other bundles. The same again gives what is there, waits for who makes it, or begins anew.
  Result<MachineBuild> build(const std::string& sources, const std::string& arch, const std::string& isa,
                             Nanos timeout);

  Result<Facts> facts(Deadline deadline);

  // Hands the job over and starts the runner detached, both in one channel. Repeating it with the same job is harmless
  // (the runner's lock lets one only live); another job under the same run id is refused.
  Status start(const Job& job, Deadline deadline);

  // Calls on_event with every event numbered `from` (>= 1) and up, in order, each once, until run_done (true) or until
  // the deadline, or until a silence finds that the runner has ended without finishing (false; state() tells which).
  // Any error of on_event ends it and is returned. on_event may call the other functions of this client: that is how a
  // sealed round is pulled while the runner waits for us at the round's boundary. A lost connection is an error of kind
  // kProvisioning: reconnect and call again with the last number seen + 1. Repeated numbers are skipped; a gap, a
  // hostile line or an event after run_done is an error of kind kInternal.
  Result<bool> follow(const std::string& run, int64_t from, const std::function<Status(const Event&)>& on_event,
                      Deadline deadline);

  // Brings a sealed unit ("round-0003", "final") home into `dest` (must not exist, its parent is made): unpacked into
  // a temporary folder beside it, every file's hash and the manifest's hash (from the round_sealed or run_done event)
  // checked, synced, renamed into place. A `dest` that holds the unit already is success.
  Status pull_unit(const std::string& run, const std::string& unit, const std::string& dest,
                   const std::string& manifest_sha256, const PackCaps& caps, Deadline deadline);

  Status append_round(const std::string& run, const RoundSpec& round, Deadline deadline);
  // Asks the runner to end its trial, seal and be done; returns when asked, not when done.
  Status stop(const std::string& run, Deadline deadline);
  Result<AgentState> state(const std::string& run, Deadline deadline);

 private:
  Result<std::string> call(const std::vector<std::string>& argv, RunOptions options, const std::string& what);
  Status learn_bundles(Deadline deadline);

  Transport& transport_;
  Clock& clock_;
  std::string work_dir_;
  std::string agent_sha256_;
  std::optional<std::set<std::string>> bundles_;  // known to lie on the machine
};

}  // namespace benchctl
