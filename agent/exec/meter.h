// What is recorded around a run phase: CPU time and steal of the trial's CPUs, pressure, throttling, and the agent's
// own cost. Every file is opened before the window; a reading is one pread each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/exec/cgroup.h"
#include "agent/exec/cpu_times.h"
#include "agent/exec/pseudo_file.h"

namespace benchctl {

struct Measurement {
  StealReading steal;
  std::optional<double> psi_cpu_some;  // percent of the window
  std::optional<double> psi_io_some;
  int64_t throttled = 0;
  int64_t agent_cpu_ns = 0;
};

class Meter {
 public:
  // `root` stands before every path: tests replay recorded files.
  Meter(std::vector<int> cpus, const CgroupHost& cgroups, const std::string& root = "");
  void start();
  Measurement stop(int64_t wall_ns);

 private:
  struct Reading {
    CpuTable cpus;
    std::optional<int64_t> psi_cpu_us, psi_io_us;
    int64_t throttled = 0;
    int64_t agent_cpu_ns = 0;
  };
  Reading read();

  std::vector<int> cpus_;
  const CgroupHost& cgroups_;
  PseudoFile stat_, psi_cpu_, psi_io_, schedstat_;
  Reading before_;
};

// total= of the "some" line of /proc/pressure/*, microseconds.
std::optional<int64_t> parse_psi_some_us(std::string_view text);

}  // namespace benchctl
