// Time comes in through this interface, so that tests and simulation own it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

namespace benchctl {

using Nanos = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic, counts suspend (CLOCK_BOOTTIME): deadlines are points on this line.
  virtual Nanos now() = 0;
  // Unix time in milliseconds; for records only, never for deadlines.
  virtual int64_t unix_ms() = 0;
  virtual void sleep(Nanos duration) = 0;
};

class SystemClock final : public Clock {
 public:
  Nanos now() override;
  int64_t unix_ms() override;
  void sleep(Nanos duration) override;
};

// A clock that moves only when told or slept on.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(int64_t unix_ms = 1'700'000'000'000) : unix_ms_(unix_ms) {}
  Nanos now() override { return now_; }
  int64_t unix_ms() override { return unix_ms_ + std::chrono::duration_cast<std::chrono::milliseconds>(now_).count(); }
  void sleep(Nanos duration) override { now_ += duration; }

 private:
  Nanos now_{0};
  int64_t unix_ms_;
};

// A point in time by which an operation must have ended. Copyable and cheap; carries no clock of its own.
struct Deadline {
  Nanos at{0};
  static Deadline in(Clock& clock, Nanos span) { return Deadline{clock.now() + span}; }
  // One look at the clock: between two, a suspended machine could wake to a negative span.
  Nanos left(Clock& clock) const { return std::max(at - clock.now(), Nanos{0}); }
  bool passed(Clock& clock) const { return clock.now() >= at; }
};

// "2026-11-30T19:10:56.123Z"
std::string format_utc(int64_t unix_ms);

}  // namespace benchctl
