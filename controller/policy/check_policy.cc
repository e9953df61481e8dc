#include <algorithm>

#include "controller/policy/policy.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Machines of these cost nobody money by the hour.
bool is_free(const std::string& provider) {
  return provider == "nspawn" || provider == "local" || provider == "ssh" || provider == "qemu";
}

std::string quoted(const std::string& text) {
  return "\"" + sanitize(text, 80) + "\"";
}

std::string span(int64_t ms) {
  return format_seconds(static_cast<double>(ms) / 1000);
}

std::string cost(double amount, const std::string& currency) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f ", amount);
  return text + currency;
}

class Checker {
 public:
  // `closed`: what the bounds do not name is not allowed, as opposed to not bounded.
  Checker(const Plan& plan, const std::string& file, const Bounds& bounds, bool closed)
      : plan_(plan), file_(file), bounds_(bounds), closed_(closed) {}

  std::vector<std::string> check() {
    for (const auto& [name, fleet] : plan_.fleets) check_fleet(name, fleet);
    check_count();
    check_ttl();
    check_cost();
    return std::move(lines_);
  }

 private:
  void refuse(const std::string& key, const std::string& what) { lines_.push_back(plan_.where(key) + what); }

  // "/etc/policy.toml:4 (max_ttl in [untrusted])"
  std::string rule(const std::string& key) const {
    auto line = bounds_.lines.find(key);
    std::string table = closed_ ? "[untrusted]" : "[allow]";
    return file_ + (line == bounds_.lines.end() ? "" : ":" + std::to_string(line->second)) + " (" + key + " in " +
           table + ")";
  }

  void check_member(const std::string& place, const std::string& what, const std::string& value, const std::string& key,
                    const std::optional<std::vector<std::string>>& allowed) {
    if (!allowed && !closed_) return;
    if (allowed && std::find(allowed->begin(), allowed->end(), value) != allowed->end()) return;
    std::string list = !allowed || allowed->empty() ? "nothing" : sanitize(join(*allowed, ", "), 300);
    refuse(place, what + " " + quoted(value) + " is not allowed: " + rule(key) + " allows " + list);
  }

  void check_fleet(const std::string& name, const Fleet& fleet) {
    const std::string key = "fleet." + name, where = " in [fleet." + name + "]";
    check_member(key + ".provider", "provider" + where, fleet.spec.provider, "providers", bounds_.providers);
    for (const std::string& region : fleet.spec.regions)
      check_member(key + ".region", "region" + where, region, "regions", bounds_.regions);
    if (fleet.spec.regions.empty() && !is_free(fleet.spec.provider) && (bounds_.regions || closed_))
      refuse(key, "[fleet." + name + "] names no region, and " + rule("regions") + " bounds them: name one");
    for (size_t i = 0; i < fleet.spec.hosts.size(); ++i)
      check_member(key + ".hosts." + std::to_string(i) + ".host", "host" + where, fleet.spec.hosts[i].host, "hosts",
                   bounds_.hosts);
  }

  void check_count() {
    int count = 0;
    const std::string* largest = nullptr;
    for (const auto& [name, fleet] : plan_.fleets) {
      if (largest == nullptr || fleet.count > plan_.fleets.at(*largest).count) largest = &name;
      count += fleet.count;
    }
    int most = bounds_.max_count.value_or(0);
    if (largest == nullptr || (!bounds_.max_count && !closed_) || count <= most) return;
    refuse("fleet." + *largest + ".count", "the plan asks for " + std::to_string(count) +
                                               " machines: " + rule("max_count") + " allows " + std::to_string(most));
  }

  void check_ttl() {
    int64_t most = bounds_.max_ttl_ms.value_or(0);
    if ((!bounds_.max_ttl_ms && !closed_) || plan_.limits.ttl_ms <= most) return;
    refuse("limits.ttl", "machines may live for " + span(plan_.limits.ttl_ms) + " (ttl in [limits]): " +
                             rule("max_ttl") + " allows " + (most == 0 ? "nothing" : span(most)));
  }

  void check_cost() {
    bool costs = std::any_of(plan_.fleets.begin(), plan_.fleets.end(),
                             [](const auto& fleet) { return !is_free(fleet.second.spec.provider); });
    if (!costs || (!bounds_.max_cost && !closed_)) return;
    if (!bounds_.max_cost)
      return refuse("limits.max_cost", "machines cost money: " + rule("max_cost") + " allows none");
    std::string most = cost(*bounds_.max_cost, bounds_.max_cost_currency);
    if (!plan_.limits.max_cost)
      return refuse("limits", "the plan sets no max_cost in [limits]: " + rule("max_cost") + " allows " + most);
    if (plan_.limits.max_cost_currency == bounds_.max_cost_currency && *plan_.limits.max_cost <= *bounds_.max_cost)
      return;
    refuse("limits.max_cost", "max_cost in [limits] is " +
                                  cost(*plan_.limits.max_cost, plan_.limits.max_cost_currency) + ": " +
                                  rule("max_cost") + " allows " + most);
  }

  const Plan& plan_;
  const std::string& file_;
  const Bounds& bounds_;
  bool closed_;
  std::vector<std::string> lines_;
};

// What no policy can allow to a plan that a stranger wrote.
std::vector<std::string> strangers_limits(const Plan& plan) {
  std::vector<std::string> lines;
  auto refuse = [&](const std::string& key, const std::string& what) {
    lines.push_back(plan.where(key) + what + ", which an untrusted plan cannot");
  };
  for (const auto& [name, build] : plan.builds)
    refuse("build." + name, "[build." + name + "] runs commands on this computer");
  if (plan.persistent_ok) refuse("harden.persistent_ok", "persistent_ok changes machines that are kept");
  bool here = false;
  for (const auto& [name, fleet] : plan.fleets) {
    here = here || fleet.spec.provider == "local";
    const std::string key = "fleet." + name;
    if (fleet.spec.options.count("packages") != 0)
      refuse(key + ".packages", "packages in [fleet." + name + "] makes this computer build and keep another image");
    if (!fleet.spec.hosts.empty() && !fleet.spec.hosts.front().become.empty())
      refuse(key + ".become", "become in [fleet." + name + "] asks for another user's rights");
    for (size_t i = 0; i < fleet.spec.hosts.size(); ++i)
      if (!fleet.spec.hosts[i].key_file.empty())
        refuse(key + ".hosts." + std::to_string(i) + ".key_file", "key_file names a file of this computer");
  }
  for (size_t i = 0; here && i < plan.suites.size(); ++i)
    if (!plan.suites[i].command.empty())
      refuse("suite." + std::to_string(i) + ".command",
             "suite " + plan.suites[i].name + " runs a program of its own on this computer");
  return lines;
}

}  // namespace

Status check_policy(const Plan& plan, const Policy& policy, bool untrusted) {
  std::vector<std::string> lines;
  if (!policy.file.empty()) lines = Checker(plan, policy.file, policy.allow, false).check();
  if (untrusted) {
    if (!policy.untrusted)
      return Error{ErrorKind::kUsage,
                   plan.file + ": an untrusted plan may do only what [untrusted] of a policy allows, and " +
                       (policy.file.empty() ? "there is no policy" : policy.file + " has no such table") +
                       "; see docs/policy.md"};
    auto add = [&](const std::vector<std::string>& more) { lines.insert(lines.end(), more.begin(), more.end()); };
    add(Checker(plan, policy.file, *policy.untrusted, true).check());
    add(strangers_limits(plan));
  }
  if (lines.empty()) return {};
  return Error{ErrorKind::kUsage, join(lines, "\n")};
}

}  // namespace benchctl
