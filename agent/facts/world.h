// What the collectors see of a machine: files below a root, and tools. And how they write down what they found.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/facts/collect.h"
#include "agent/facts/tool.h"
#include "lib/clock.h"
#include "lib/json.h"

namespace benchctl {

struct World {
  std::string root;  // without trailing slash: "" is the running system
  Tools& tools;
  Clock& clock;

  bool live() const { return root.empty(); }
  // A file of /proc, /sys or /etc; `path` is absolute. Errors name the path in the machine's own terms.
  Result<std::string> read(const std::string& path) const;
  // The same, trimmed, at most 4 KiB; nothing when absent or empty.
  std::optional<std::string> line(const std::string& path) const;
  std::optional<int64_t> number(const std::string& path) const;
  std::vector<std::string> list(const std::string& path) const;  // empty when absent
};

// One group of facts: each key has a value, or null and a reason.
class FactGroup {
 public:
  void set(const std::string& key, Json value) { values_.set(key, std::move(value)); }
  void none(const std::string& key, const std::string& reason) {
    values_.set(key, Json());
    why_.set(key, reason);
  }
  template <typename T>
  void set(const std::string& key, const std::optional<T>& value, const std::string& reason) {
    if (value) {
      set(key, Json(*value));
    } else {
      none(key, reason);
    }
  }
  const Json& get(const std::string& key) const { return values_[key]; }
  Json take() && {
    values_.set("why", std::move(why_));
    return std::move(values_);
  }

 private:
  Json values_ = Json::object();
  Json why_ = Json::object();
};

// collect_facts() of collect.h on a given world: what tests call with tools of their own.
Json collect_facts(const World& world, const FactsOptions& options);

// One function a group; none of them fails.
Json cpu_facts(const World& world);
Json virt_facts(const World& world);
Json memory_facts(const World& world);
Json kernel_facts(const World& world);
Json disk_facts(const World& world, const std::string& workdir, bool probe);
Json time_facts(const World& world);
Json os_facts(const World& world);
Json state_facts(const World& world);
Json agent_facts(const World& world);

}  // namespace benchctl
