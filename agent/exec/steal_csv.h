// Rows of steal.csv.
#pragma once

#include <string>
#include <string_view>

#include "lib/wire/trial.h"

namespace benchctl {

inline constexpr std::string_view kStealCsvHeader =
    "trial,attempt,suite,runner,run,started_utc,seconds,cpu_total_jiffies,steal_jiffies,steal_percent,psi_cpu_some,"
    "psi_io_some,involuntary_switches,throttled\n";

// With its line feed. `runner` is the arm, `run` the round; what is not known is empty.
std::string steal_row(const TrialRecord& record);

}  // namespace benchctl
