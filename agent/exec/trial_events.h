// Fields of the events about a trial.
#pragma once

#include "lib/json.h"
#include "lib/wire/trial.h"

namespace benchctl {

Json trial_started_fields(const TrialSpec& spec);
Json trial_finished_fields(const TrialRecord& record);

}  // namespace benchctl
