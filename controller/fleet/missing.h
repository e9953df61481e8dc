// Which rounds of a slot are still to be run, decided on what came home. Pure.
#pragma once

#include <vector>

#include "controller/store/rows.h"
#include "lib/wire/job.h"

namespace benchctl {

// `rounds`: the slot's whole schedule, evidence and warm-ups included. `rows`: every trial of the slot in the store, of
// all its machines. A scored round is done when the newest attempt of each of its trials ended by itself and all of
// them on one machine: a round is a block, and half a block is none. What is missing runs as a block of its own, on a
// machine of its own, warm-ups first; its attempts come after all that the store has. Empty: nothing is missing.
std::vector<RoundSpec> rounds_to_run(const std::vector<RoundSpec>& rounds, const std::vector<TrialRow>& rows);

}  // namespace benchctl
