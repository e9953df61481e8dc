// Inside of plan_reader: one function a section of the file. Each reports what it finds and goes on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/plan/plan.h"
#include "controller/plan/plan_source.h"
#include "controller/toml/table_reader.h"
#include "controller/workloads/workload.h"

namespace benchctl {

struct PlanContext {
  const PlanSource& source;
  const std::vector<Workload>& workloads;
  Findings& findings;
};

// Names that people give: fleets, suites, arms, builds, parameters.
bool valid_name(std::string_view name);

const std::vector<std::string>& known_providers();
const std::vector<std::string>& available_providers();

void read_fleets(TableReader& top, PlanContext& context, Plan& plan);
void read_harden(TableReader& top, PlanContext& context, Plan& plan);  // after the fleets
void read_limits(TableReader& top, PlanContext& context, Plan& plan);
void read_schedule(TableReader& top, PlanContext& context, Plan& plan);
void read_noise(TableReader& top, PlanContext& context, Plan& plan);
void read_builds(TableReader& top, PlanContext& context, Plan& plan);
void read_suites(TableReader& top, PlanContext& context, Plan& plan);
void read_report(TableReader& top, PlanContext& context, Plan& plan);

// max_cost = "2.00 USD".
void read_cost(TableReader& table, std::optional<double>& amount, std::string& currency);

// [suite.params] against a mode's declaration; defaults are filled in. `node` may be null.
void read_params(const toml::Node* node, const ModeDecl& mode, PlanContext& context, Suite& suite);
// [suite.params] of the user's own program: any names, plain values.
void read_free_params(const toml::Node* node, PlanContext& context, Suite& suite);

// Between sections, once each is good by itself: points, trials, time.
void check_whole(const toml::Node& root, PlanContext& context, Plan& plan);

}  // namespace benchctl
