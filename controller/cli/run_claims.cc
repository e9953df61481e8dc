#include "controller/cli/run_claims.h"

#include <set>

#include "controller/claims/claim_json.h"
#include "controller/claims/claim_reader.h"
#include "controller/claims/coverage.h"
#include "controller/plan/plan_source.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kNamed = 6;  // claims in one warning

std::string claims_path(const std::string& run_folder) {
  return run_folder + "/claims.json";
}

// One line a file: "claims/sqlite.toml: 3 of 40 claims are not tested by this plan: a (why), b (why)".
std::string coverage_warning(const ClaimFile& file, const Plan& plan) {
  std::vector<std::string> named;
  size_t count = 0;
  for (const Claim& claim : file.claims) {
    std::string why = why_not_covered(claim, plan);
    if (why.empty()) continue;
    if (++count <= kNamed) named.push_back(claim.id + " (" + why + ")");
  }
  if (count == 0) return "";
  if (count > kNamed) named.push_back("and " + std::to_string(count - kNamed) + " more");
  return file.file + ": warning: " + std::to_string(count) + " of " + std::to_string(file.claims.size()) +
         " claims will not be tested by this plan: " + join(named, ", ");
}

}  // namespace

Result<PlanClaims> read_plan_claims(const Plan& plan, const std::vector<Workload>& workloads) {
  PlanClaims all;
  all.claims = Json::array();
  std::set<std::string> ids;
  for (const std::string& name : plan.claims) {
    BENCHCTL_CHECK(check_beneath(plan.root, name));
    BENCHCTL_TRY(ClaimFile file, load_claims(plan.root + "/" + without_dot(name), name, workloads));
    for (const Claim& claim : file.claims)
      if (!ids.insert(claim.id).second)
        return Error{ErrorKind::kUsage, file.file + ": claim " + claim.id + " stands in another file of the plan too"};
    if (std::string warning = coverage_warning(file, plan); !warning.empty()) all.warnings.push_back(warning);
    add_to(all.claims, file);
  }
  return all;
}

Status save_claims(const std::string& run_folder, const RunClaims& claims) {
  if (claims.claims.as_array().empty()) return {};
  Json document = Json::object({{"required", claims.required}, {"claims", claims.claims}});
  return write_atomic(claims_path(run_folder), document.dump_pretty() + "\n");
}

Result<RunClaims> saved_claims(const std::string& run_folder) {
  const std::string path = claims_path(run_folder);
  if (!exists(path)) return RunClaims{};
  BENCHCTL_TRY(std::string text, read_file(path));
  auto document = Json::parse(text);
  if (!document) return document.error().in(path);
  return RunClaims{(*document)["claims"], (*document)["required"].as_bool()};
}

std::string unmet_claims(const Json& verdicts) {
  std::vector<std::string> failed;
  size_t tested = 0;
  for (const Json& one : verdicts.as_array()) {
    const std::string& verdict = one["verdict"].as_string();
    if (verdict != "not tested") ++tested;
    if (verdict == "not reproduced")
      failed.push_back(sanitize(one["id"].as_string(), 80) + " on " + sanitize(one["machine"].as_string(), 80));
  }
  if (!failed.empty()) return "claims are not reproduced: " + join(failed, ", ");
  return tested == 0 ? "no claim could be tested: see why with benchctl claims" : "";
}

}  // namespace benchctl
