#include "agent/exec/cpu_times.h"

#include <algorithm>

#include "lib/text.h"

namespace benchctl {

CpuTable parse_cpu_table(std::string_view proc_stat) {
  CpuTable table;
  for (std::string_view line : split(proc_stat, '\n')) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    auto fields = split(line, ' ');
    auto cpu = parse_int(fields[0].substr(3));
    if (!cpu || *cpu < 0 || fields.size() < 5) continue;
    // user nice system idle iowait irq softirq steal guest guest_nice
    CpuTimes times;
    bool readable = true;
    for (size_t i = 1; i < fields.size() && i <= 8; ++i) {
      auto value = parse_int(fields[i]);
      readable = readable && value;
      times.total += value.value_or(0);
      if (i == 4 || i == 5) times.idle += value.value_or(0);
      if (i == 8) {
        times.steal = value.value_or(0);
        times.has_steal = true;
      }
    }
    if (readable) table[static_cast<int>(*cpu)] = times;
  }
  return table;
}

namespace {

// What passed on one CPU. Idle and iowait are known to go backwards now and then (proc(5), and after a CPU was
// offline), which says nothing about the other columns: no idle time passed then.
struct Passed {
  int64_t busy = 0;  // neither idle nor stolen
  int64_t idle = 0;
  int64_t steal = 0;
  bool backwards() const { return busy < 0 || steal < 0; }
  int64_t total() const { return busy + idle + steal; }
};

Passed passed_between(const CpuTimes& first, const CpuTimes& last) {
  auto busy = [](const CpuTimes& times) { return times.total - times.idle - times.steal; };
  return {busy(last) - busy(first), std::max<int64_t>(0, last.idle - first.idle), last.steal - first.steal};
}

}  // namespace

StealReading steal_between(const CpuTable& before, const CpuTable& after, const std::vector<int>& cpus) {
  StealReading reading;
  int64_t total = 0, steal = 0;
  bool column = true, backwards = false;
  for (int cpu : cpus) {
    auto first = before.find(cpu), last = after.find(cpu);
    if (first == before.end() || last == after.end()) {
      reading.note = "CPU " + std::to_string(cpu) + " is not in /proc/stat";
      return reading;
    }
    Passed passed = passed_between(first->second, last->second);
    column = column && first->second.has_steal && last->second.has_steal;
    backwards = backwards || passed.backwards();
    total += passed.total();
    steal += passed.steal;
  }
  if (backwards) {
    reading.note = "unreliable: counters of /proc/stat went backwards";
    return reading;
  }
  reading.total_jiffies = total;
  if (!column) {
    reading.note = "no steal column in /proc/stat";
    return reading;
  }
  reading.counted = true;
  reading.steal_jiffies = steal;
  if (static_cast<double>(total) * kStealThresholdPercent / 100 < 10) {
    reading.note = "too short to say";
  } else {
    reading.percent = 100.0 * static_cast<double>(steal) / static_cast<double>(total);
  }
  return reading;
}

std::optional<double> busy_between(const CpuTable& before, const CpuTable& after, const std::vector<int>& cpus) {
  int64_t total = 0, busy = 0;
  int counted = 0;
  for (int cpu : cpus) {
    auto first = before.find(cpu), last = after.find(cpu);
    if (first == before.end() || last == after.end()) continue;
    Passed passed = passed_between(first->second, last->second);
    if (passed.backwards()) return std::nullopt;
    total += passed.total();
    busy += passed.busy;
    ++counted;
  }
  if (total == 0) return std::nullopt;
  return static_cast<double>(busy) / static_cast<double>(total) * counted;
}

}  // namespace benchctl
