// The operator's bounds for plans: docs/policy.md. A plan says what it wants; this file, which no plan can name or
// change, says what it may have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/plan/plan.h"
#include "lib/result.h"

namespace benchctl {

struct Bounds {
  std::optional<std::vector<std::string>> providers, regions, hosts;
  std::optional<int> max_count;  // machines of the whole plan
  std::optional<int64_t> max_ttl_ms;
  std::optional<double> max_cost;  // in max_cost_currency
  std::string max_cost_currency;
  std::map<std::string, int> lines;  // of the policy file, by key
};

struct Policy {
  std::string file;                 // for messages; empty: there is no policy
  Bounds allow;                     // of every plan; what is absent is not bounded
  std::optional<Bounds> untrusted;  // of plans that may come from a stranger; what is absent is not allowed
};

// kUsage, all mistakes in one go, each with its line.
Result<Policy> read_policy(const std::string& text, const std::string& file);

// A file that only we or root can change. Absent is no policy, unless it `must_exist`; anything else that keeps us from
// reading it is an error, never "no policy".
Result<Policy> load_policy(const std::string& path, bool must_exist);

// kUsage, a line for each thing that the plan wants and may not have: the plan's place first, then the policy's.
// `untrusted`: the plan may come from a stranger (a pull request). Then it must also keep within [untrusted], names no
// file outside its root, and runs nothing of its own on this very computer.
Status check_policy(const Plan& plan, const Policy& policy, bool untrusted);

}  // namespace benchctl
