#include "controller/plan/points.h"

#include <algorithm>

#include "controller/plan/declarations.h"
#include "lib/json.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Params = std::map<std::string, std::string>;

std::vector<std::string> resolved(const std::vector<std::string>& values, int cpus) {
  return values == std::vector<std::string>{"auto"} ? auto_workers(cpus) : values;
}

Json json_of(const Params& params) {
  Json json = Json::object();
  for (const auto& [name, value] : params) json.set(name, value);
  return json;
}

// One line of JSON: keys in this order, parameters sorted, so that equal definitions are equal bytes.
std::string definition_of(const Suite& suite, const std::string& version, const Params& params) {
  Json line = Json::object();
  line.set("definition", 1);
  line.set("workload", suite.workload);
  line.set("version", version);
  line.set("mode", suite.mode);
  line.set("format", suite.format);
  line.set("command", suite.command);
  line.set("params", json_of(params));
  return sha256_hex(line.dump());
}

// All that the store's row of the point says: another plan with a suite of the same name is another point where it
// compares with another baseline or names its points otherwise.
std::string hash_of(const Suite& suite, const std::string& label, const Params& params) {
  Json line = Json::object();
  line.set("point", 2);
  line.set("suite", suite.name);
  line.set("workload", suite.workload);
  line.set("mode", suite.mode);
  line.set("baseline", suite.baseline);
  line.set("label", label);
  line.set("params", json_of(params));
  return sha256_hex(line.dump());
}

// Every combination, the last parameter (by name) turning fastest.
std::vector<Params> combinations(const Suite& suite, int cpus) {
  std::vector<Params> all{{}};
  for (const auto& [name, values] : suite.params) {
    std::vector<Params> longer;
    for (const Params& params : all)
      for (const std::string& value : resolved(values, cpus)) {
        longer.push_back(params);
        longer.back()[name] = value;
      }
    all = std::move(longer);
  }
  return all;
}

int64_t workers_of(const Point& point) {
  auto workers = point.params.find("workers");
  return workers == point.params.end() ? 0 : parse_int(workers->second).value_or(0);
}

// The copy of the baseline costs as much as an arm: everywhere in sequential suites, in concurrent ones only at the
// fewest and at the most workers.
void mark_aa(const Suite& suite, std::vector<Point>::iterator begin, std::vector<Point>::iterator end) {
  if (suite.format != "concurrent") {
    for (auto point = begin; point != end; ++point) point->aa = true;
    return;
  }
  auto fewer = [](const Point& a, const Point& b) { return workers_of(a) < workers_of(b); };
  if (begin == end) return;
  std::min_element(begin, end, fewer)->aa = true;
  // The last of the largest: another point than the smallest also where workers do not vary.
  std::max_element(begin, end, [&](const Point& a, const Point& b) { return !fewer(b, a); })->aa = true;
}

}  // namespace

std::vector<std::string> auto_workers(int cpus) {
  std::vector<std::string> values;
  for (int64_t workers = 1; workers <= cpus; workers *= 2) values.push_back(std::to_string(workers));
  values.push_back(std::to_string(int64_t{2} * std::max(cpus, 1)));
  return values;
}

int64_t count_points(const Suite& suite, int cpus) {
  int64_t count = 1;
  for (const auto& [name, values] : suite.params)
    count = std::min<int64_t>(1'000'000, count * static_cast<int64_t>(resolved(values, cpus).size()));
  return count;
}

std::vector<Point> points_of(const Plan& plan, const std::vector<Workload>& workloads, int cpus) {
  std::vector<Point> points;
  for (size_t i = 0; i < plan.suites.size(); ++i) {
    const Suite& suite = plan.suites[i];
    const Workload* workload = find_named(workloads, suite.workload);
    const auto first = static_cast<std::ptrdiff_t>(points.size());
    for (Params& params : combinations(suite, cpus)) {
      Point point;
      point.suite = i;
      for (const auto& [name, values] : suite.params)
        if (resolved(values, cpus).size() > 1)
          point.label += (point.label.empty() ? "" : ",") + name + "=" + params[name];
      point.hash = hash_of(suite, point.label, params);
      point.definition_hash = definition_of(suite, workload == nullptr ? "" : workload->version, params);
      point.params = std::move(params);
      points.push_back(std::move(point));
    }
    if (plan.schedule.aa && suite.arms.size() >= 2) mark_aa(suite, points.begin() + first, points.end());
  }
  return points;
}

}  // namespace benchctl
