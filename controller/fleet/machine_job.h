// The job of one machine: made from the plan and the machine's facts, kept in the run's folder so that a controller
// that comes later goes on with exactly the same.
#pragma once

#include <string>
#include <vector>

#include "controller/fleet/run_context.h"
#include "lib/wire/facts.h"
#include "lib/wire/job.h"

namespace benchctl {

struct MachineJob {
  Job job;
  std::vector<ExpectedTrial> expected;  // of all its rounds
  std::vector<LeftOutRow> left_out;     // arms that this machine does not run; of a job that was made, not loaded
};

// The slot's whole schedule on a machine of these facts, what stands in the store left out; its points are saved there.
// Nothing is missing: a job without rounds. `done`: the store's trials of the slot.
Result<MachineJob> make_job(const RunInput& input, Store& store, const Facts& facts, int index_in_run,
                            const std::vector<TrialRow>& done);

// <run folder>/jobs/<name>.json; on the disk when it returns.
Status save_job(const std::string& run_folder, const std::string& machine, const MachineJob& job);
// A job without rounds when there is none: the machine was never started.
Result<MachineJob> load_job(const std::string& run_folder, const std::string& machine);

}  // namespace benchctl
