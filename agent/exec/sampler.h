// The 1 Hz samples of system.csv: one small pread a second while a trial runs, kept in memory, written after it.
#pragma once

#include <string>
#include <string_view>

#include "agent/exec/pseudo_file.h"
#include "lib/clock.h"

namespace benchctl {

// Counters of the whole machine since boot, in jiffies, as the first line of /proc/stat gives them (user and nice
// contain guest time; the guest columns are left out so that a sum counts nothing twice). Differences are the reader's.
inline constexpr std::string_view kSystemCsvHeader =
    "trial,attempt,unix_ms,user,nice,system,idle,iowait,irq,softirq,steal\n";

class Sampler {
 public:
  explicit Sampler(Clock& clock) : clock_(clock) {}
  void begin(int64_t trial, int attempt);
  void sample();
  std::string take();  // the rows since begin()

 private:
  static constexpr size_t kMaxBytes = 8 << 20;  // about a day of samples; later ones are dropped

  Clock& clock_;
  PseudoFile stat_{"/proc/stat"};
  std::string prefix_;
  std::string rows_;
};

// A row's numbers from the first line of /proc/stat, each with its comma; absent columns stay empty.
std::string system_row(std::string_view proc_stat);

}  // namespace benchctl
