// One attempt of one trial, from an empty scratch folder to trial.json.
#pragma once

#include <string>
#include <vector>

#include "agent/exec/cgroup.h"
#include "agent/exec/run_folder.h"
#include "agent/exec/sampler.h"
#include "agent/exec/stop_signal.h"
#include "lib/clock.h"
#include "lib/wire/trial.h"

namespace benchctl {

// Users that no one else has: systemd's documentation of UIDs and GIDs leaves 60706..61183 unused.
inline constexpr int kFirstUid = 60706;
inline constexpr int kLastUid = 61183;
// Where programs of trials and recipes find the machine's own.
inline constexpr const char* kProgramsPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// What stays the same for all trials of an agent.
struct TrialHost {
  const Job& job;
  const RunFolder& folder;
  const CgroupHost& cgroups;
  Clock& clock;
  StopSignal& stop;
  Sampler& sampler;
  std::vector<int> cpus;     // of the trials
  bool own_users = false;    // each trial gets a uid of its own
  std::string weaker;        // why containment is weaker than it could be; "" when it is not
  std::string group_prefix;  // of cgroup names
};

// Errors are the agent's own: ENOSPC (is_no_space) or an internal failure. Everything a trial does is a verdict.
Result<TrialRecord> run_trial(TrialHost& host, const TrialSpec& spec);

// trial.json in the trial's folder, which is made when it does not exist. For a record that run_trial could not write.
Status write_record(const RunFolder& folder, const TrialRecord& record);

// Ends what an agent that died in mid-trial left: cgroups, processes of the recorded uid or with its environment,
// scratch folders.
void clear_leftovers(const RunFolder& folder, const CgroupHost& cgroups, const std::string& group_prefix);

// The first uid of that range that no process has, counted from a place of its own for each `turn`: two turns in a row
// do not share one.
int free_uid(int64_t turn);

// Whether processes of a trial's user can reach those folders; "" or the reason why not.
std::string closed_to_users(const std::vector<std::string>& folders);
// The same for scratch and bundles, which are opened for it as far as they are ours.
std::string users_obstacle(const RunFolder& folder, const Job& job);

}  // namespace benchctl
