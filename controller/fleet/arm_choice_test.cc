// The bundle of each arm by the machine's facts: no program is sent to a machine that cannot run it, and none is
// forgotten.
#include "controller/fleet/arm_choice.h"

#include <gtest/gtest.h>

#include "controller/workloads/target.h"

namespace benchctl {
namespace {

class ArmChoiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Workload workload;
    workload.name = "w";
    workload.baseline = "c";
    workload.arms = {{"c", "", {"bin/c"}, "c", {}, {}, {}},
                     {"bun", "", {"bin/bun"}, "bun", {}, {"bun_old"}, {}},
                     {"gleam", "", {"bin/gleam"}, "gleam", {}, {}, {}}};
    workload.builds = {{"c", {}, {}, {}, {{"x86_64", "x86-64-v2"}, {"aarch64", "armv8-a"}}, "none", {}},
                       {"bun", {}, {}, {}, {{"x86_64", "x86-64-v2"}}, "2.17", {"avx2"}},
                       {"bun_old", {}, {}, {}, {{"x86_64", "x86-64-v2"}}, "2.17", {}},
                       {"gleam", {}, {}, {}, {{"x86_64", "x86-64-v2"}}, "2.36", {}}};
    input_.workloads = {workload};
    for (const BuildDecl& build : workload.builds)
      for (const BuildTarget& target : build.targets)
        input_.bundles["w/" + build.name + " " + target.isa] = {std::string(64, 'a'), "/b",
                                                                Json::object({{"arch", target.arch},
                                                                              {"isa", target.isa},
                                                                              {"min_glibc", build.min_glibc},
                                                                              {"cpu_flags", build.cpu_flags}})};
    Suite suite;
    suite.name = "s";
    suite.workload = "w";
    suite.arms = {"c", "bun", "gleam"};
    suite.baseline = "c";
    input_.plan.suites = {suite};
    flags_ = flags_of_isa("x86-64-v3");
  }
  ArmChoice choose() {
    auto choice = choose_arms(input_, facts());
    EXPECT_TRUE(choice.ok()) << choice.error().message;
    return choice ? *choice : ArmChoice{};
  }
  Facts facts() const {
    Facts facts;
    facts.document.set("cpu", Json::object({{"architecture", arch_}, {"flags", flags_}}));
    facts.document.set("os", Json::object({{"libc", libc_}}));
    return facts;
  }

  RunInput input_;
  std::string arch_ = "x86_64", libc_ = "glibc 2.41";
  std::vector<std::string> flags_;
};

TEST_F(ArmChoiceTest, AllRunWhereAllFits) {
  ArmChoice choice = choose();
  EXPECT_EQ(choice.plan.suites[0].arms, (std::vector<std::string>{"c", "bun", "gleam"}));
  EXPECT_TRUE(choice.left_out.empty());
  EXPECT_EQ(choice.workloads[0].arm("bun")->build, "bun");
}

TEST_F(ArmChoiceTest, AnotherRecipeServesAnOlderCpuAndIsSaid) {
  flags_ = flags_of_isa("x86-64-v2");
  ArmChoice choice = choose();
  EXPECT_EQ(choice.plan.suites[0].arms.size(), 3u);
  EXPECT_EQ(choice.workloads[0].arm("bun")->build, "bun_old");
  ASSERT_EQ(choice.left_out.size(), 1u);
  EXPECT_EQ(choice.left_out[0].kind, "another build");
  EXPECT_EQ(choice.left_out[0].reason, "runs from bun_old, since w/bun: it needs avx2, which the CPU lacks");
}

TEST_F(ArmChoiceTest, AnOlderGlibcLeavesOutWhatNeedsANewerOne) {
  libc_ = "glibc 2.31";
  ArmChoice choice = choose();
  EXPECT_EQ(choice.plan.suites[0].arms, (std::vector<std::string>{"c", "bun"}));
  ASSERT_EQ(choice.left_out.size(), 1u);
  EXPECT_EQ(choice.left_out[0].arm, "gleam");
  EXPECT_EQ(choice.left_out[0].kind, "not for this machine");
  EXPECT_EQ(choice.left_out[0].reason, "w/gleam: it needs glibc 2.36 or newer, and the machine has glibc 2.31");
}

TEST_F(ArmChoiceTest, WhatIsNotBuiltIsNeverSilentlyMissing) {
  input_.bundles.erase("w/gleam x86-64-v2");
  input_.unbuilt["w/gleam x86-64-v2"] = "the compiler is missing";
  ArmChoice choice = choose();
  ASSERT_EQ(choice.left_out.size(), 1u);
  EXPECT_EQ(choice.left_out[0].kind, "not built");
  EXPECT_EQ(choice.left_out[0].reason, "w/gleam: the compiler is missing");
  for (const std::string& arm : input_.plan.suites[0].arms) {
    const auto& kept = choice.plan.suites[0].arms;
    bool runs = std::find(kept.begin(), kept.end(), arm) != kept.end();
    bool said = std::any_of(choice.left_out.begin(), choice.left_out.end(),
                            [&](const LeftOutRow& row) { return row.arm == arm; });
    EXPECT_TRUE(runs || said) << arm;
  }
}

TEST_F(ArmChoiceTest, AnotherArchitectureTakesItsOwnBundle) {
  arch_ = "aarch64";
  flags_ = {"asimd"};
  ArmChoice choice = choose();
  EXPECT_EQ(choice.plan.suites[0].arms, (std::vector<std::string>{"c"}));
  ASSERT_EQ(choice.left_out.size(), 2u);
  EXPECT_EQ(choice.left_out[1].reason, "w/gleam: it cannot be built for aarch64");
}

TEST_F(ArmChoiceTest, AMachineThatCannotRunTheBaselineIsRejected) {
  flags_ = {"sse2"};
  auto choice = choose_arms(input_, facts());
  ASSERT_FALSE(choice.ok());
  EXPECT_EQ(choice.error().kind, ErrorKind::kRejected);
  EXPECT_NE(choice.error().message.find("the baseline c of suite s cannot run on this machine: w/c: it is built for "
                                        "x86-64-v2, and the CPU lacks cx16"),
            std::string::npos)
      << choice.error().message;
}

}  // namespace
}  // namespace benchctl
