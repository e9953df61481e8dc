// Recipes of a few shell lines: what is built when, and what a build may see. Real compilers: tests/workloads.
#include "controller/workloads/build.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lib/files.h"
#include "lib/pack.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

class BuildTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/benchctl-build-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    write("toolchains/tool/toolchain.toml", "help = \"a tool\"\nprobe = [\"sh\", \"probe.sh\"]\n");
    write("toolchains/tool/probe.sh", "echo x >>" + root_ + "/probed\necho TOOL_VERSION=tool 1\necho TOOL=/bin/sh\n");
    write("toolchains/lib/toolchain.toml",
          "help = \"a library\"\nneeds = [\"tool\"]\nbuild = [\"sh\", \"build.sh\"]\n");
    write(
        "toolchains/lib/build.sh",
        "echo x >>" + root_ +
            "/lib_built\necho $BENCHCTL_ISA-$TOOL >$BENCHCTL_OUT/lib\necho LIB_VERSION=9 >$BENCHCTL_OUT/environment\n");
    write("sum/build.sh", "echo x >>" + root_ +
                              "/built\nmkdir $BENCHCTL_OUT/bin\ncat part.txt $LIB_DIR/lib >$BENCHCTL_OUT/bin/sum\nenv "
                              ">$BENCHCTL_WORK/environment\n");
    write("sum/part.txt", "one\n");
    workload_.name = "sum";
    workload_.version = "1";
    workload_.folder = root_ + "/sum";
    workload_.builds = {
        {"sh", {"build.sh", "*.txt"}, {{"sh", "build.sh"}}, {"lib"}, {{this_architecture(), "v9"}}, "none", {}}};
    workload_.arms = {{"sum", "", {"bin/sum"}, "sh", {}, {}, {}}};
  }
  void TearDown() override { (void)remove_tree(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  int count(const std::string& name) {
    auto text = read_file(root_ + "/" + name);
    return text ? static_cast<int>(text->size() / 2) : 0;
  }
  BuildContext context() {
    return BuildContext{root_,
                        root_ + "/cache",
                        clock_,
                        [this](const std::string& line) { said_ += line + "\n"; },
                        {"PATH=/usr/bin:/bin"}};
  }
  Result<Bundle> build() {
    BuildContext fresh = context();
    auto bundles = build_bundles(workload_, {"sum"}, fresh);
    if (!bundles) return bundles.error();
    return bundles->front();
  }

  SystemClock clock_;
  std::string root_;
  std::string said_;
  Workload workload_;
};

TEST_F(BuildTest, StoppedBuildLeavesOffAndIsNoFailure) {
  write("sum/build.sh", "touch " + root_ + "/begun\nsleep 1000\n");
  BuildContext stopped = context();
  stopped.stop = [this] { return exists(root_ + "/begun"); };
  auto bundles = build_bundles(workload_, {"sum"}, stopped);
  ASSERT_FALSE(bundles.ok());
  EXPECT_EQ(bundles.error().kind, ErrorKind::kInterrupted);
  EXPECT_NE(bundles.error().message.find("sum/sh"), std::string::npos) << bundles.error().message;
  for (const auto& file : std::filesystem::directory_iterator(root_ + "/cache/builds"))
    ADD_FAILURE() << file.path() << " is left";
  // And whoever waits for a build of another process.
  auto turn = FileLock::take(root_ + "/cache/build.lock", "another");
  ASSERT_TRUE(turn.ok());
  bundles = build_bundles(workload_, {"sum"}, stopped);
  ASSERT_FALSE(bundles.ok());
  EXPECT_EQ(bundles.error().kind, ErrorKind::kInterrupted);
}

TEST_F(BuildTest, BuildsOnceAndAgainOnlyWhatChanged) {
  auto first = build();
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_TRUE(first->built);
  auto content = read_file(first->folder + "/bin/sum");
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(*content, "one\nv9-/bin/sh\n");
  auto entries = scan_tree(first->folder, {});
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(sha256_hex(format_manifest(*entries)), first->sha256);
  EXPECT_EQ(first->manifest["toolchains"]["lib"]["LIB_VERSION"].as_string(), "9");
  EXPECT_EQ(first->manifest["toolchains"]["tool"]["TOOL_VERSION"].as_string(), "tool 1");
  EXPECT_TRUE(first->manifest["toolchains"]["tool"]["TOOL"].is_null()) << "places of this computer do not travel";

  auto second = build();
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second->built);
  EXPECT_EQ(second->sha256, first->sha256);
  EXPECT_EQ(count("built"), 1);
  EXPECT_EQ(count("lib_built"), 1);

  write("sum/part.txt", "two\n");
  auto changed = build();
  ASSERT_TRUE(changed.ok());
  EXPECT_TRUE(changed->built);
  EXPECT_NE(changed->sha256, first->sha256);
  EXPECT_EQ(count("built"), 2);
  EXPECT_EQ(count("lib_built"), 1);

  // Another version of a tool: all that needs it is made again.
  write("toolchains/tool/probe.sh", "echo TOOL_VERSION=tool 2\necho TOOL=/bin/sh\n");
  ASSERT_TRUE(build().ok());
  EXPECT_EQ(count("built"), 3);
  EXPECT_EQ(count("lib_built"), 2);

  write("sum/notes.md", "no source\n");
  ASSERT_TRUE(build().ok());
  EXPECT_EQ(count("built"), 3);
}

TEST_F(BuildTest, ARecipeSeesOnlyTheEnvironmentItIsGiven) {
  setenv("BENCHCTL_TEST_TOKEN", "secret", 1);
  auto bundle = build();
  unsetenv("BENCHCTL_TEST_TOKEN");
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  auto seen = read_file(root_ + "/cache/work/sum-sh/environment");
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->find("secret"), std::string::npos);
  EXPECT_NE(seen->find("TOOL=/bin/sh"), std::string::npos);
}

TEST_F(BuildTest, AFailedStepLeavesNothingAndSaysWhy) {
  write("sum/build.sh", "echo half >$BENCHCTL_OUT/sum\necho no such header >&2\nexit 3\n");
  auto failed = build();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().kind, ErrorKind::kWorkload);
  EXPECT_EQ(failed.error().message,
            "building sum/sh failed: sh build.sh: exit code 3: no such header; the whole log is " + root_ +
                "/cache/logs/sum-sh.log");
  EXPECT_NE(said_.find("  no such header\n"), std::string::npos);
  write("sum/build.sh", "mkdir $BENCHCTL_OUT/bin; echo good >$BENCHCTL_OUT/bin/sum\n");
  auto bundle = build();
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  EXPECT_FALSE(exists(bundle->folder + "/sum")) << "left from the failed build";
}

TEST_F(BuildTest, WhatIsMissingIsSaid) {
  write("toolchains/tool/probe.sh", "echo 'a tool is missing: apt-get install tool' >&2; exit 1\n");
  auto missing = build();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(missing.error().message, "toolchain tool: a tool is missing: apt-get install tool");

  workload_.builds[0].needs = {"absent"};
  EXPECT_NE(build().error().message.find("there is no toolchain \"absent\""), std::string::npos);
  workload_.builds[0].needs = {};
  workload_.builds[0].sources = {"*.c"};
  EXPECT_NE(build().error().message.find("the source pattern \"*.c\" matches no file"), std::string::npos);
  workload_.builds[0].targets = {{"s390x", "z13"}};
  EXPECT_EQ(build().error().message, "sum/sh cannot be built for " + this_architecture() + ", only for s390x");
}

TEST_F(BuildTest, ARecipeThatCannotBeBuiltDoesNotStopTheOthers) {
  workload_.builds.push_back(workload_.builds[0]);
  workload_.builds[1].name = "other";
  workload_.builds[1].needs = {"absent"};
  workload_.builds.push_back(workload_.builds[0]);
  workload_.builds[2].name = "broken";
  workload_.builds[2].steps = {{"sh", "-c", "exit 4"}};
  workload_.arms = {{"a", "", {"bin/sum"}, "other", {}, {}, {}},
                    {"b", "", {"bin/sum"}, "broken", {}, {}, {}},
                    {"sum", "", {"bin/sum"}, "sh", {}, {}, {}}};
  BuildContext fresh = context();
  auto made = build_each(workload_, {}, {}, fresh);
  ASSERT_TRUE(made.ok()) << made.error().message;
  ASSERT_EQ(made->bundles.size(), 1u);
  EXPECT_EQ(made->bundles[0].build, "sh");
  ASSERT_EQ(made->missing.size(), 2u);
  EXPECT_EQ(made->missing[0].build, "other");
  EXPECT_EQ(made->missing[0].why.kind, ErrorKind::kUsage);
  EXPECT_EQ(made->missing[1].why.kind, ErrorKind::kWorkload);
  EXPECT_FALSE(build_bundles(workload_, {"a"}, fresh).ok()) << "who names it gets it or an error";
  auto all = build_bundles(workload_, {}, fresh);
  ASSERT_TRUE(all.ok());
  EXPECT_NE(said_.find("sum/other is not built: there is no toolchain"), std::string::npos) << said_;
}

TEST_F(BuildTest, TheTargetReachesToolchainsAndSteps) {
  write("toolchains/lib/build.sh", "echo $BENCHCTL_ARCH $BENCHCTL_ISA >$BENCHCTL_OUT/lib\n");
  write("sum/build.sh",
        "mkdir $BENCHCTL_OUT/bin; echo $BENCHCTL_ARCH $BENCHCTL_ISA | cat - $LIB_DIR/lib >$BENCHCTL_OUT/bin/sum\n");
  workload_.builds[0].targets = {{"x86_64", "x86-64-v2"}, {"x86_64", "x86-64-v3"}, {"aarch64", "armv8-a"}};
  auto built_for = [&](const BuildWish& wish) -> std::string {
    BuildContext fresh = context();
    auto made = build_each(workload_, {}, wish, fresh);
    if (!made || made->bundles.size() != 1) return made ? made->missing[0].why.message : made.error().message;
    const Bundle& bundle = made->bundles[0];
    auto text = read_file(bundle.folder + "/bin/sum");
    std::string line = bundle.manifest["arch"].as_string() + " " + bundle.manifest["isa"].as_string() + "\n";
    EXPECT_EQ(*text, line + line);
    return line;
  };
  EXPECT_EQ(built_for({"x86_64", ""}), "x86_64 x86-64-v2\n");
  EXPECT_EQ(built_for({"x86_64", "x86-64-v3"}), "x86_64 x86-64-v3\n");
  EXPECT_EQ(built_for({"aarch64", "x86-64-v3"}), "aarch64 armv8-a\n") << "a wish that the architecture cannot have";
  EXPECT_EQ(built_for({"x86_64", "x86-64-v4"}), "x86_64 x86-64-v2\n") << "and one that the recipe does not know";
  EXPECT_EQ(built_for({"riscv64", ""}), "sum/sh cannot be built for riscv64, only for x86_64 and aarch64");
}

TEST_F(BuildTest, AToolOfThisComputerIsMadeOnceForAllTargets) {
  write("toolchains/lib/toolchain.toml", "needs = [\"tool\"]\nbuild = [\"sh\", \"build.sh\"]\nany_target = true\n");
  write("toolchains/tool/toolchain.toml", "probe = [\"sh\", \"probe.sh\"]\nany_target = true\n");
  workload_.builds[0].targets = {{"x86_64", "x86-64-v2"}, {"aarch64", "armv8-a"}};
  for (const char* arch : {"x86_64", "aarch64"}) {
    BuildContext fresh = context();
    ASSERT_TRUE(build_each(workload_, {}, {arch, ""}, fresh).ok());
  }
  EXPECT_EQ(count("lib_built"), 1);
  EXPECT_EQ(count("built"), 2);
}

TEST_F(BuildTest, LookingBuildsNothingAndRemembersTheLastFailure) {
  auto look = [&] {
    BuildContext fresh = context();
    Toolchains toolchains(fresh, true);
    return look_at(workload_, workload_.builds[0], workload_.builds[0].targets[0], toolchains, fresh);
  };
  EXPECT_EQ(look().state, Readiness::kNotBuiltYet);
  EXPECT_EQ(count("lib_built"), 0);
  write("sum/build.sh", "exit 9\n");
  ASSERT_FALSE(build().ok());
  EXPECT_EQ(look().state, Readiness::kCannot);
  EXPECT_EQ(look().kind, ErrorKind::kWorkload);
  EXPECT_NE(look().why.find("exit code 9"), std::string::npos);
  write("sum/build.sh", "mkdir $BENCHCTL_OUT/bin; echo good >$BENCHCTL_OUT/bin/sum\n");
  EXPECT_EQ(look().state, Readiness::kNotBuiltYet) << "another recipe since";
  ASSERT_TRUE(build().ok());
  EXPECT_EQ(look().state, Readiness::kBuilt);
  write("sum/part.txt", "changed\n");
  EXPECT_EQ(look().state, Readiness::kNotBuiltYet) << "what is stale is not called built";
  write("toolchains/tool/probe.sh", "echo 'get a tool' >&2; exit 1\n");
  EXPECT_EQ(look().state, Readiness::kCannot);
  EXPECT_EQ(look().why, "toolchain tool: get a tool");
}

TEST_F(BuildTest, ToolchainsThatNeedEachOtherAreRefused) {
  write("toolchains/tool/toolchain.toml", "needs = [\"lib\"]\nprobe = [\"true\"]\n");
  auto loop = build();
  ASSERT_FALSE(loop.ok());
  EXPECT_NE(loop.error().message.find("needs itself"), std::string::npos) << loop.error().message;
}

TEST(JobLimit, OneAtATimeBelowTwoGiB) {
  EXPECT_EQ(job_limit("MemTotal: 9 kB\nMemAvailable:    1000000 kB\n"), 1);
  EXPECT_EQ(job_limit("MemTotal: 9 kB\nMemAvailable:    8000000 kB\n"), 0);
  EXPECT_EQ(job_limit(""), 0);
}

}  // namespace
}  // namespace benchctl
