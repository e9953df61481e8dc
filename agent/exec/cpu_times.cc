#include "agent/exec/cpu_times.h"

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

StealReading steal_between(const CpuTable& before, const CpuTable& after, const std::vector<int>& cpus) {
  StealReading reading;
  bool column = true, backwards = false;
  for (int cpu : cpus) {
    auto first = before.find(cpu), last = after.find(cpu);
    if (first == before.end() || last == after.end()) {
      reading.note = "CPU " + std::to_string(cpu) + " is not in /proc/stat";
      return reading;
    }
    int64_t total = last->second.total - first->second.total, steal = last->second.steal - first->second.steal;
    column = column && first->second.has_steal && last->second.has_steal;
    backwards = backwards || total < 0 || steal < 0 || steal > total;
    reading.total_jiffies += total;
    reading.steal_jiffies += steal;
  }
  if (!column) {
    reading.steal_jiffies = 0;
    reading.note = "no steal column in /proc/stat";
  } else if (backwards) {
    reading.total_jiffies = reading.steal_jiffies = 0;
    reading.note = "unreliable: counters of /proc/stat went backwards";
  } else if (static_cast<double>(reading.total_jiffies) * kStealThresholdPercent / 100 < 10) {
    reading.note = "too short to say";
  } else {
    reading.percent = 100.0 * static_cast<double>(reading.steal_jiffies) / static_cast<double>(reading.total_jiffies);
  }
  return reading;
}

std::optional<double> busy_between(const CpuTable& before, const CpuTable& after, const std::vector<int>& cpus) {
  int64_t total = 0, busy = 0;
  int counted = 0;
  for (int cpu : cpus) {
    auto first = before.find(cpu), last = after.find(cpu);
    if (first == before.end() || last == after.end()) continue;
    int64_t passed = last->second.total - first->second.total;
    int64_t not_used = last->second.idle - first->second.idle + last->second.steal - first->second.steal;
    if (passed < 0 || not_used < 0) return std::nullopt;
    total += passed;
    busy += passed > not_used ? passed - not_used : 0;
    ++counted;
  }
  if (total == 0) return std::nullopt;
  return static_cast<double>(busy) / static_cast<double>(total) * counted;
}

}  // namespace benchctl
