// Inside of claim_reader: which rows a claim is about.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controller/claims/claim.h"
#include "controller/toml/table_reader.h"
#include "controller/workloads/workload.h"

namespace benchctl {

// [claim.select] holds what both sides share; [claim.of] and [claim.to] add to it and override it.
class SideReader {
 public:
  SideReader(const std::vector<Workload>& workloads, Findings& findings) : workloads_(workloads), findings_(findings) {}

  void share(const toml::Node& node);  // [claim.select]
  // The side of `node`, or of what is shared alone; empty when there were mistakes. `kind` is the claim's.
  std::vector<ClaimSide> read(const toml::Node* node, const std::string& name, const std::string& kind,
                              toml::Place claim);

 private:
  struct Field {
    std::string text;
    toml::Place place;
  };
  struct Draft {
    std::optional<Field> workload, mode, arm, case_name, metric;
    std::vector<std::pair<std::string, const toml::Node*>> params;
  };
  void add(const toml::Node& node, const std::string& name, Draft& draft);
  void error(toml::Place place, const std::string& message);
  const Workload* find_workload(const Draft& draft);
  const ModeDecl* find_mode(const Draft& draft, const Workload& workload, toml::Place place);
  void check_arm(const Draft& draft, const Workload& workload, const ModeDecl& mode);
  void check_metric(const Draft& draft, const ModeDecl& mode, const std::string& kind);
  std::vector<ClaimSide> with_params(ClaimSide side, const Draft& draft, const ModeDecl& mode);
  bool fill_case(ClaimSide& side, toml::Place place);

  const std::vector<Workload>& workloads_;
  Findings& findings_;
  Draft shared_;
  // What both sides share is looked at for each of them and told once.
  std::set<std::string> told_;
  bool good_ = true;
};

}  // namespace benchctl
