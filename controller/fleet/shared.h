// What the slots of one run share: the money that may be spent, and the hardware that siblings already have.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "controller/plan/plan.h"
#include "lib/result.h"
#include "provisioning/provider.h"

namespace benchctl {

// Thread-safe. Machines are billed by the started hour, which is what most providers do at worst.
class Budget {
 public:
  explicit Budget(const Limits& limits) : cap_(limits.max_cost), currency_(limits.max_cost_currency) {}

  // Before a create: sets aside what the machine costs at most, `longest_ms` of it. kProvisioning when that could pass
  // the cap, kUsage when the price is in another currency than the cap.
  Status reserve(const std::string& machine, const std::optional<Price>& price, int64_t longest_ms);
  // After it is gone, or for one of an earlier part of this run: it cost this and no more.
  void settle(const std::string& machine, const std::optional<Price>& price, int64_t lived_ms);

 private:
  std::optional<double> cap_;
  std::string currency_;
  std::mutex mutex_;
  std::map<std::string, double> of_machine_;
};

// The longest that a machine is paid for: its time to live and beyond, until it is noticed and proved gone.
int64_t longest_life_ms(const Limits& limits, int64_t keep_ms);
// price.per_hour for each started hour, at least one.
double cost_of(const Price& price, int64_t milliseconds);

// Thread-safe. For `spread`: no two machines of a fleet on the same hardware while there are rerolls left.
class HardwareSeen {
 public:
  // False, and nothing is noted, when a sibling has this hardware; a slot's own earlier machine is no sibling.
  bool claim(const std::string& fleet, int slot, const std::string& hardware);

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, int> taken_;  // slot, by fleet and hardware
};

struct FleetShare {
  explicit FleetShare(const Limits& limits) : budget(limits) {}
  Budget budget;
  HardwareSeen hardware;
};

}  // namespace benchctl
