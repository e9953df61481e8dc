#include "controller/fleet/shared.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace benchctl {

int64_t longest_life_ms(const Limits& limits, int64_t keep_ms) {
  constexpr int64_t kGoingMs = 20 * 60'000;
  return limits.ttl_ms + keep_ms + kGoingMs;
}

double cost_of(const Price& price, int64_t milliseconds) {
  double hours = std::ceil(static_cast<double>(milliseconds) / 3'600'000);
  return price.per_hour * std::max(1.0, hours);
}

Status Budget::reserve(const std::string& machine, const std::optional<Price>& price, int64_t longest_ms) {
  if (!cap_ || !price || price->per_hour <= 0) return {};
  if (price->currency != currency_)
    return Error{ErrorKind::kUsage, "max_cost is in " + currency_ + ", the provider's price in " + price->currency};
  std::lock_guard lock(mutex_);
  double sum = cost_of(*price, longest_ms);
  for (const auto& [name, cost] : of_machine_) sum += name == machine ? 0 : cost;
  // Prices are decimal fractions: a sum that is the cap but for rounding is not above it.
  if (sum > *cap_ + 1e-9) {
    char text[160];
    std::snprintf(text, sizeof text, "another machine could bring the cost to %.4f %s, above max_cost = %.4f %s", sum,
                  currency_.c_str(), *cap_, currency_.c_str());
    return Error{ErrorKind::kProvisioning, text};
  }
  of_machine_[machine] = cost_of(*price, longest_ms);
  return {};
}

void Budget::settle(const std::string& machine, const std::optional<Price>& price, int64_t lived_ms) {
  if (!price || price->per_hour <= 0) return;
  std::lock_guard lock(mutex_);
  of_machine_[machine] = cost_of(*price, lived_ms);
}

bool HardwareSeen::claim(const std::string& fleet, int slot, const std::string& hardware) {
  std::lock_guard lock(mutex_);
  return taken_.emplace(std::pair(fleet, hardware), slot).first->second == slot;
}

}  // namespace benchctl
