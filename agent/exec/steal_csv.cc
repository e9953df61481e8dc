#include "agent/exec/steal_csv.h"

#include <cstdio>
#include <vector>

#include "lib/clock.h"
#include "lib/text.h"

namespace benchctl {
namespace {

std::string field(std::string_view text) {
  std::string clean = sanitize(text, 200);
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (char c : clean) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number(std::optional<double> value, const char* format) {
  if (!value) return "";
  char text[48];
  std::snprintf(text, sizeof text, format, *value);
  return text;
}

}  // namespace

std::string steal_row(const TrialRecord& record) {
  return join({std::to_string(record.spec.trial), std::to_string(record.spec.attempt), field(record.spec.suite),
               field(record.spec.arm), std::to_string(record.spec.round), format_utc(record.started_unix_ms),
               number(static_cast<double>(record.wall_ns) / 1e9, "%.6f"), std::to_string(record.cpu_total_jiffies),
               std::to_string(record.steal_jiffies), number(record.steal_percent, "%.3f"),
               number(record.psi_cpu_some, "%.3f"), number(record.psi_io_some, "%.3f"),
               std::to_string(record.involuntary_switches), std::to_string(record.throttled)},
              ",") +
         "\n";
}

}  // namespace benchctl
