// A run as one machine has it, and what of that outlives a controller.
#include "controller/fleet/machine_builds.h"

#include <gtest/gtest.h>

#include "controller/fleet/arm_choice.h"
#include "lib/test_folder.h"

namespace benchctl {
namespace {

const std::string kSources(64, 'a'), kBuilt(64, 'b');
constexpr const char* kKey = "w/c x86_64 on machine";

RunInput input() {
  RunInput input;
  Workload workload;
  workload.name = "w";
  workload.baseline = "c";
  workload.arms = {{"c", "", {"bin/c"}, "c", {}, {}, {}}, {"d", "", {"bin/d"}, "d", {}, {}, {}}};
  for (const char* name : {"c", "d"}) {
    BuildDecl build;
    build.name = name;
    build.targets = build.on_machine = {{"x86_64", "x86-64"}};
    workload.builds.push_back(build);
    Json manifest = Json::object({{"arch", "x86_64"}, {"on_machine", std::vector<std::string>{"x86-64"}}});
    input.bundles["w/" + std::string(name) + " x86_64 on machine"] = {kSources, "/sources", manifest};
  }
  input.workloads = {workload};
  Suite suite;
  suite.name = "s";
  suite.workload = "w";
  suite.arms = {"c", "d"};
  suite.baseline = "c";
  suite.on_machine = true;
  input.plan.suites = {suite};
  return input;
}

Facts facts() {
  Facts facts;
  facts.document.set("cpu", Json::object({{"architecture", "x86_64"}}));
  return facts;
}

MachineBuilds builds() {
  MachineBuilds builds;
  builds.bundles[kKey] = {kBuilt, "", Json::object({{"arch", "x86_64"}, {"isa", "x86-64"}})};
  builds.unbuilt["w/d x86_64 on machine"] = "building it on the machine failed: exit code 1";
  return builds;
}

TEST(MachineBuilds, NoTrialRunsFromSources) {
  EXPECT_FALSE(choose_arms(seen_by(input(), {}), facts()).ok()) << "nothing has been built";
  RunInput seen = seen_by(input(), builds());
  EXPECT_EQ(seen.bundles.at(kKey).sha256, kBuilt);
  auto choice = choose_arms(seen, facts());
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  EXPECT_EQ(choice->plan.suites[0].arms, std::vector<std::string>{"c"});
  ASSERT_EQ(choice->left_out.size(), 1u);
  EXPECT_EQ(choice->left_out[0].kind, "not built");
  EXPECT_EQ(choice->left_out[0].reason, "w/d: building it on the machine failed: exit code 1");
}

TEST(MachineBuilds, WhatTheCpuLacksIsNotForThatMachine) {
  MachineBuilds unfit = builds();
  unfit.unbuilt.clear();
  unfit.unfit["w/d x86_64 on machine"] = "not built for this CPU: x86-64-v4 needs avx512f, which it lacks";
  auto choice = choose_arms(seen_by(input(), unfit), facts());
  ASSERT_TRUE(choice.ok());
  ASSERT_EQ(choice->left_out.size(), 1u);
  EXPECT_EQ(choice->left_out[0].kind, "not for this machine");
  EXPECT_EQ(choice->left_out[0].reason, "w/d: not built for this CPU: x86-64-v4 needs avx512f, which it lacks");
}

TEST(MachineBuilds, OutliveTheController) {
  TestFolder folder;
  EXPECT_TRUE(load_builds(folder.path(), "bc-1")->bundles.empty());
  MachineBuilds made = builds();
  made.unfit["x"] = "y";
  ASSERT_TRUE(save_builds(folder.path(), "bc-1", made).ok());
  auto loaded = load_builds(folder.path(), "bc-1");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->bundles.at(kKey).sha256, kBuilt);
  EXPECT_EQ(loaded->bundles.at(kKey).manifest["isa"].as_string(), "x86-64");
  EXPECT_EQ(loaded->unbuilt, made.unbuilt);
  EXPECT_EQ(loaded->unfit, made.unfit);
  EXPECT_TRUE(load_builds(folder.path(), "bc-2")->bundles.empty());
}

}  // namespace
}  // namespace benchctl
