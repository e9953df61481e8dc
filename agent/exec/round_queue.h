// The rounds of a run in their order: those of the job, then those appended later as rounds/NNNN.json.
#pragma once

#include <string>
#include <vector>

#include "agent/exec/run_folder.h"
#include "lib/result.h"
#include "lib/wire/job.h"

namespace benchctl {

struct QueuedRound {
  std::string unit;  // unique: "round-0003", and "round-0003-r2" for the second one of that number
  std::string file;  // "rounds/0001.json", "" for the job's own
  RoundSpec spec;
};

// Deterministic: the same files always give the same units.
Result<std::vector<QueuedRound>> read_queue(const RunFolder& folder, const Job& job);

// Adds a round under the append lock; the same text again is no second round. kUsage when the run takes no more.
Status append_round(const RunFolder& folder, const std::string& json);

// Under the append lock: nothing is added after this unless the queue has grown beyond `known`; then false.
Result<bool> close_queue(const RunFolder& folder, const Job& job, size_t known);

// Whether it holds a trial whose output is a measurement: what runners say about themselves ("trace", "info") is none,
// and needs no quiet machine.
bool measures(const RoundSpec& round);

// How much to add to every attempt number of the round so that none of its folders exists: 0 the first time, 1 or more
// after an interruption.
int attempt_shift(const RunFolder& folder, const RoundSpec& round);

}  // namespace benchctl
