#include "agent/exec/round_probe.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "agent/exec/cpu_list.h"
#include "agent/exec/meter.h"
#include "lib/files.h"

namespace benchctl {
namespace {

constexpr Nanos kQuantum = std::chrono::microseconds(50);
constexpr int kTries = 20;
constexpr int64_t kTryIterations = 5'000;
constexpr int64_t kMaxSpanMs = 10'000;
constexpr size_t kMaxDurations = 1 << 20;

// xorshift: each step needs the one before it, so that the time is that of the instructions, not of memory.
uint64_t work(uint64_t state, int64_t iterations) {
  for (int64_t i = 0; i < iterations; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  return state;
}

int64_t timed(Clock& clock, int64_t iterations) {
  static volatile uint64_t sink = 88172645463325252ULL;  // the work must not be optimised away
  Nanos before = clock.now();
  sink = work(sink, iterations);
  return (clock.now() - before).count();
}

Json or_null(std::optional<int64_t> value) {
  return value ? Json(*value) : Json();
}

Json thousandths(std::optional<double> value) {
  return value ? Json(std::round(*value * 1000) / 1000) : Json();
}

}  // namespace

std::optional<SpinFigures> spin_figures(std::vector<int64_t> durations_ns) {
  if (durations_ns.empty()) return std::nullopt;
  std::sort(durations_ns.begin(), durations_ns.end());
  auto rank = [&](double share) {
    auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(durations_ns.size())));
    return durations_ns[std::max<size_t>(at, 1) - 1];
  };
  return SpinFigures{rank(0.50), rank(0.99), durations_ns.back()};
}

std::vector<int64_t> spin(Clock& clock, int64_t iterations, Nanos span) {
  std::vector<int64_t> durations;
  durations.reserve(std::min(kMaxDurations, static_cast<size_t>(span / kQuantum) * 2 + 1));
  const Deadline deadline = Deadline::in(clock, span);
  do {
    durations.push_back(timed(clock, iterations));
  } while (!deadline.passed(clock) && durations.size() < kMaxDurations);
  return durations;
}

int64_t calibrate_spin(Clock& clock) {
  int64_t best = INT64_MAX;
  for (int i = 0; i < kTries; ++i) best = std::min(best, std::max<int64_t>(timed(clock, kTryIterations), 1));
  return std::max<int64_t>(kTryIterations * kQuantum.count() / best, 1);
}

Result<Json> RoundProbe::take(const std::vector<int>& cpus, int64_t span_ms, int round, std::optional<double> busy) {
  Json fields = Json::object();
  fields.set("round", round);
  fields.set("busy", thousandths(busy));
  auto home = allowed_cpus();
  bool moved = home && !cpus.empty() && set_affinity({cpus.front()}) == 0;
  std::optional<SpinFigures> figures;
  Measurement measured;
  if (moved) {
    if (iterations_ == 0) iterations_ = calibrate_spin(clock_);
    Meter meter(cpus, cgroups_);
    meter.start();
    Nanos started = clock_.now();
    figures =
        spin_figures(spin(clock_, iterations_, std::chrono::milliseconds(std::clamp<int64_t>(span_ms, 1, kMaxSpanMs))));
    measured = meter.stop((clock_.now() - started).count());
    errno = set_affinity(*home);
    if (errno != 0) return errno_error("sched_setaffinity back from the probe's CPU");
  }
  fields.set("spin_p50_ns", or_null(figures ? std::optional(figures->p50_ns) : std::nullopt));
  fields.set("spin_p99_ns", or_null(figures ? std::optional(figures->p99_ns) : std::nullopt));
  fields.set("spin_max_ns", or_null(figures ? std::optional(figures->max_ns) : std::nullopt));
  bool counted = measured.steal.counted;
  fields.set("steal_jiffies", or_null(counted ? std::optional(measured.steal.steal_jiffies) : std::nullopt));
  fields.set("psi_cpu_some", thousandths(measured.psi_cpu_some));
  return fields;
}

}  // namespace benchctl
