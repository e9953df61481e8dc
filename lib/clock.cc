#include "lib/clock.h"

#include <cerrno>
#include <cstdio>
#include <ctime>

namespace benchctl {

Nanos SystemClock::now() {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return std::chrono::seconds(t.tv_sec) + Nanos(t.tv_nsec);
}

int64_t SystemClock::unix_ms() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return int64_t{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

void SystemClock::sleep(Nanos duration) {
  if (duration <= Nanos{0}) return;
  timespec t{};
  t.tv_sec = duration.count() / 1'000'000'000;
  t.tv_nsec = duration.count() % 1'000'000'000;
  // A signal ends the sleep early on purpose: whoever waits looks at its stop flag and its deadline again.
  nanosleep(&t, nullptr);
}

std::string format_utc(int64_t unix_ms) {
  // Rounded down, so that the milliseconds are never negative before 1970.
  int64_t millis = (unix_ms % 1000 + 1000) % 1000;
  time_t seconds = static_cast<time_t>((unix_ms - unix_ms % 1000) / 1000 - (unix_ms % 1000 < 0 ? 1 : 0));
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>(millis));
  return text;
}

}  // namespace benchctl
