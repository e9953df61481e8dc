#include "controller/claims/coverage.h"

#include <gtest/gtest.h>

#include "controller/claims/claim_reader.h"
#include "controller/plan/plan_fixture.h"

namespace benchctl {
namespace {

const char kPlan[] = R"(schema = 1
name = "x"
[fleet.a]
provider = "nspawn"
[[suite]]
workload = "request_shape"
mode = "sequential"
arms = ["c_sqlite"]
[suite.params]
statement_cache = ["fits", "none"]
[[suite]]
workload = "request_shape"
mode = "concurrent"
arms = ["c_sqlite", "rust_rusqlite"]
)";

Claim about(std::string mode, std::string arm, std::map<std::string, std::string> params) {
  Claim claim;
  claim.of = {{"request_shape", std::move(mode), std::move(arm), "edit", "per_item", std::move(params)}};
  return claim;
}

TEST(ClaimCoverage, SaysWhatDoesNotRun) {
  auto plan = fixture::read(kPlan);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(why_not_covered(about("sequential", "c_sqlite", {{"statement_cache", "none"}}), *plan), "");
  EXPECT_EQ(why_not_covered(about("concurrent", "rust_rusqlite", {{"workers", "4"}}), *plan), "") << "auto";
  EXPECT_EQ(why_not_covered(about("sequential", "rust_rusqlite", {}), *plan),
            "arm rust_rusqlite of request_shape.sequential does not run");
  EXPECT_EQ(why_not_covered(about("sequential", "c_sqlite", {{"statement_cache", "default"}}), *plan),
            "request_shape.sequential with statement_cache = default does not run (fits, none does)");
  Claim elsewhere = about("sequential", "c_sqlite", {});
  elsewhere.of[0].workload = "engine";
  EXPECT_EQ(why_not_covered(elsewhere, *plan), "engine.sequential does not run");
  Claim two = about("sequential", "c_sqlite", {});
  two.to = about("sequential", "rust_rusqlite", {}).of;
  EXPECT_NE(why_not_covered(two, *plan), "") << "the second side counts too";
  Claim untested;
  untested.not_tested = "why";
  EXPECT_EQ(why_not_covered(untested, *plan), "");
}

// The claims and plans that come with benchctl.
class Shipped : public testing::Test {
 protected:
  static std::vector<std::string> missing(const std::string& plan_file) {
    const std::string root = BENCHCTL_SOURCE_DIR;
    std::vector<std::string> ids;
    auto workloads = load_workloads(root + "/workloads");
    EXPECT_TRUE(workloads) << workloads.error().message;
    auto claims = load_claims(root + "/claims/sqlite.toml", "claims/sqlite.toml", *workloads);
    EXPECT_TRUE(claims) << claims.error().message;
    auto source = load_plan_source(root + "/plans/" + plan_file);
    EXPECT_TRUE(source) << source.error().message;
    auto plan = read_plan(*source, *workloads, {});
    EXPECT_TRUE(plan) << plan.error().message;
    if (!claims || !plan) return {"unread"};
    EXPECT_GE(claims->claims.size(), 60u);
    for (const Claim& claim : claims->claims)
      if (!why_not_covered(claim, *plan).empty()) ids.push_back(claim.id);
    return ids;
  }
};

TEST_F(Shipped, TheFullPlanTestsEveryClaimThatCanBeTested) {
  EXPECT_EQ(missing("sqlite-claims.toml"), std::vector<std::string>{});
}

TEST_F(Shipped, TheQuickPlanLeavesOutWhatNeedsItsSize) {
  EXPECT_EQ(missing("sqlite-claims-quick.toml"),
            (std::vector<std::string>{"bulk.2m.ac_10000", "bulk.2m.ac_100000", "bulk.2m.at_end",
                                      "engine.speedtest1.unlink", "engine.speedtest1.fsync"}));
}

}  // namespace
}  // namespace benchctl
