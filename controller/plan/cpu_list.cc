#include "controller/plan/cpu_list.h"

#include <set>

#include "lib/text.h"

namespace benchctl {

std::optional<int> count_cpu_list(std::string_view list) {
  constexpr int64_t kLargest = 8191;
  if (list.size() > 4096) return std::nullopt;
  std::set<int64_t> cpus;
  for (std::string_view part : split(list, ',')) {
    auto ends = split(part, '-');
    if (ends.size() > 2) return std::nullopt;
    auto first = parse_int(ends.front()), last = parse_int(ends.back());
    if (!first || !last || *first < 0 || *last < *first || *last > kLargest) return std::nullopt;
    for (int64_t cpu = *first; cpu <= *last; ++cpu)
      if (!cpus.insert(cpu).second) return std::nullopt;
  }
  return static_cast<int>(cpus.size());
}

}  // namespace benchctl
