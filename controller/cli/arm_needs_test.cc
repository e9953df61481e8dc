#include "controller/cli/arm_needs.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

class ArmNeeds : public ::testing::Test {
 protected:
  void SetUp() override {
    Workload workload;
    workload.name = "w";
    workload.baseline = "c";
    workload.arms = {{"c", "", {"bin/c"}, "c", {}, {}, {}}, {"bun", "", {"bin/bun"}, "bun", {}, {"bun_old"}, {}}};
    workload.builds = {{"c", {}, {}, {}, {{"x86_64", "x86-64-v2"}, {"aarch64", "armv8-a"}}, "none", {}},
                       {"bun", {}, {}, {}, {{"x86_64", "x86-64-v2"}}, "2.17", {"avx2"}},
                       {"bun_old", {}, {}, {}, {{"x86_64", "x86-64-v2"}}, "2.17", {}}};
    workloads_ = {workload};
    plan_.fleets["small"].spec.arch = "x86_64";
    Suite suite;
    suite.name = "s";
    suite.workload = "w";
    suite.arms = {"c", "bun"};
    suite.baseline = "c";
    plan_.suites = {suite};
  }
  ArmVerdict judge(const std::map<std::string, Error>& unbuilt) {
    return judge_arms(arm_needs(plan_, workloads_), unbuilt);
  }

  Plan plan_;
  std::vector<Workload> workloads_;
  const Error missing_{ErrorKind::kUsage, "bun is missing: get it"};
  const Error broken_{ErrorKind::kWorkload, "building w/bun failed"};
};

TEST_F(ArmNeeds, AnArmThatIsNamedMustBeBuilt) {
  EXPECT_TRUE(judge({}).status.ok());
  auto verdict = judge({{"w/bun x86-64-v2", missing_}, {"w/bun_old x86-64-v2", missing_}});
  ASSERT_FALSE(verdict.status.ok());
  EXPECT_EQ(verdict.status.error().kind, ErrorKind::kUsage);
  EXPECT_NE(verdict.status.error().message.find("arm bun (s) is not built: bun is missing: get it"), std::string::npos);
  EXPECT_NE(verdict.status.error().message.find("--skip-unbuilt"), std::string::npos);
}

TEST_F(ArmNeeds, ASecondRecipeServes) {
  auto verdict = judge({{"w/bun x86-64-v2", missing_}});
  EXPECT_TRUE(verdict.status.ok());
  EXPECT_TRUE(verdict.notes.empty());
}

TEST_F(ArmNeeds, OneThatMayBeLeftOutIsSaid) {
  plan_.suites[0].skip_unbuilt = true;
  auto verdict = judge({{"w/bun x86-64-v2", broken_}, {"w/bun_old x86-64-v2", broken_}});
  EXPECT_TRUE(verdict.status.ok());
  ASSERT_EQ(verdict.notes.size(), 1u);
  EXPECT_EQ(verdict.notes[0], "arm bun (s) is not built: building w/bun failed; building w/bun failed");
}

TEST_F(ArmNeeds, NothingIsComparedWithoutTheBaseline) {
  plan_.suites[0].skip_unbuilt = true;
  auto verdict = judge({{"w/c x86-64-v2", broken_}});
  ASSERT_FALSE(verdict.status.ok());
  EXPECT_EQ(verdict.status.error().kind, ErrorKind::kWorkload);
  EXPECT_NE(verdict.status.error().message.find("it is the baseline"), std::string::npos);
}

TEST_F(ArmNeeds, EveryArchitectureOfThePlanIsAskedFor) {
  plan_.fleets["arm"].spec.arch = "aarch64";
  plan_.suites[0].skip_unbuilt = true;
  auto verdict = judge({});
  ASSERT_EQ(verdict.notes.size(), 1u);
  EXPECT_EQ(verdict.notes[0],
            "arm bun (s) is not built: w/bun cannot be built for aarch64; w/bun_old cannot be built for aarch64");
}

}  // namespace
}  // namespace benchctl
