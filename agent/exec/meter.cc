#include "agent/exec/meter.h"

#include <algorithm>

#include "lib/text.h"

namespace benchctl {

std::optional<int64_t> parse_psi_some_us(std::string_view text) {
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("some ")) continue;
    size_t at = line.find(" total=");
    if (at != std::string_view::npos) return parse_int(line.substr(at + 7));
  }
  return std::nullopt;
}

namespace {

std::optional<double> share(std::optional<int64_t> before_us, std::optional<int64_t> after_us, int64_t wall_ns) {
  if (!before_us || !after_us || *after_us < *before_us || wall_ns <= 0) return std::nullopt;
  double percent = 100.0 * 1000.0 * static_cast<double>(*after_us - *before_us) / static_cast<double>(wall_ns);
  return std::min(percent, 100.0);  // the readings lie a little outside of the window
}

}  // namespace

Meter::Meter(std::vector<int> cpus, const CgroupHost& cgroups, const std::string& root)
    : cpus_(std::move(cpus)),
      cgroups_(cgroups),
      stat_(root + "/proc/stat"),
      psi_cpu_(root + "/proc/pressure/cpu"),
      psi_io_(root + "/proc/pressure/io"),
      schedstat_(root + "/proc/self/schedstat") {}

Meter::Reading Meter::read() {
  Reading reading;
  reading.throttled = cgroups_.throttled();
  reading.cpus = parse_cpu_table(stat_.read());
  reading.psi_cpu_us = parse_psi_some_us(psi_cpu_.read(512));
  reading.psi_io_us = parse_psi_some_us(psi_io_.read(512));
  std::string_view own = schedstat_.read(128);
  reading.agent_cpu_ns = parse_int(own.substr(0, own.find(' '))).value_or(0);
  return reading;
}

void Meter::start() {
  before_ = read();
}

Measurement Meter::stop(int64_t wall_ns) {
  Reading after = read();
  Measurement result;
  result.steal = steal_between(before_.cpus, after.cpus, cpus_);
  result.psi_cpu_some = share(before_.psi_cpu_us, after.psi_cpu_us, wall_ns);
  result.psi_io_some = share(before_.psi_io_us, after.psi_io_us, wall_ns);
  result.throttled = std::max<int64_t>(0, after.throttled - before_.throttled);
  result.agent_cpu_ns = std::max<int64_t>(0, after.agent_cpu_ns - before_.agent_cpu_ns);
  return result;
}

}  // namespace benchctl
