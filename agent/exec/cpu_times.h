// What /proc/stat says about CPUs, and what two readings of it say about steal and busyness.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benchctl {

// Jiffies since boot. `total` is user + nice + system + idle + iowait + irq + softirq + steal: the kernel counts guest
// time in user and nice already, so the guest columns are left out (proc(5)).
struct CpuTimes {
  int64_t total = 0;
  int64_t idle = 0;  // idle + iowait
  int64_t steal = 0;
  bool has_steal = false;  // the column exists
};
using CpuTable = std::map<int, CpuTimes>;

CpuTable parse_cpu_table(std::string_view proc_stat);

// A share below this many percent is what a plan rejects by; a window too short to show it with ten ticks says nothing:
// one tick in 200 ms of two CPUs would be 2.5 %.
inline constexpr double kStealThresholdPercent = 5.0;

struct StealReading {
  bool counted = false;  // steal_jiffies is what the kernel says; false: it is 0, and the note says why
  int64_t total_jiffies = 0;
  int64_t steal_jiffies = 0;
  std::optional<double> percent;  // absent with a note
  std::string note;
};
StealReading steal_between(const CpuTable& before, const CpuTable& after, const std::vector<int>& cpus);

// CPUs' worth of work done between the readings on `cpus` (0.1 = a tenth of one CPU), steal not counted; nullopt when
// no time passed or a counter of work went backwards.
std::optional<double> busy_between(const CpuTable& before, const CpuTable& after, const std::vector<int>& cpus);

}  // namespace benchctl
