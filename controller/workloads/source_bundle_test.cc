// A recipe of a few shell lines as a bundle of sources, and its build.sh run as the agent runs it.
#include "controller/workloads/source_bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lib/files.h"
#include "lib/pack.h"
#include "lib/sha256.h"
#include "lib/wire/machine_build.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

class SourceBundle : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/benchctl-sources-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    std::filesystem::create_directories(root_ + "/toolchains");
    std::filesystem::copy_file(BENCHCTL_SOURCE_DIR "/workloads/toolchains/on_machine.sh",
                               root_ + "/toolchains/on_machine.sh");
    write("toolchains/tool/toolchain.toml", "help = \"a tool\"\nprobe = [\"sh\", \"probe.sh\"]\n");
    write("toolchains/tool/probe.sh", "echo 'TOOL_VERSION=tool  \"1\" $HOME'\necho TOOL=/bin/sh\n");
    write("toolchains/lib/toolchain.toml",
          "help = \"fetched\"\nneeds = [\"tool\"]\nbuild = [\"sh\", \"build.sh\"]\nportable = [\"lib.c\"]\n");
    write("toolchains/lib/build.sh", "echo x >>" + root_ +
                                         "/fetched\necho one >$BENCHCTL_OUT/lib.c\necho no >$BENCHCTL_OUT/lib.a\n"
                                         "echo LIB_VERSION=9 >$BENCHCTL_OUT/environment\n");
    write("sum/build.sh",
          "cat part.txt \"$LIB_DIR/lib.c\" >\"$BENCHCTL_OUT/sum\"\necho $BENCHCTL_ISA >>\"$BENCHCTL_OUT/sum\"\n");
    write("sum/part.txt", "two\n");
    workload_.name = "sum";
    workload_.version = "1";
    workload_.folder = root_ + "/sum";
    workload_.builds = {
        {"sh", {"build.sh", "*.txt"}, {{"sh", "build.sh"}}, {"tool", "lib"}, {{"x86_64", "x86-64-v2"}}, "none", {}}};
    workload_.builds[0].on_machine = {{"x86_64", "x86-64-v2"}, {"x86_64", "x86-64-v3"}};
    workload_.arms = {{"sum", "", {"sum"}, "sh", {}, {}, {}}};
  }
  void TearDown() override { (void)remove_tree(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  Result<Bundle> bundle(const std::string& arch = "x86_64") {
    BuildContext context{root_, root_ + "/cache", clock_, [](const std::string&) {}, {"PATH=/usr/bin:/bin"}};
    Toolchains toolchains(context);
    return bundle_sources(workload_, workload_.builds[0], arch, toolchains, context);
  }
  CommandResult run_there(const Bundle& sources) {
    for (const char* name : {"out", "work"}) {
      EXPECT_TRUE(remove_tree(root_ + "/" + name).ok());
      EXPECT_TRUE(make_dirs(root_ + "/" + name).ok());
    }
    CommandSpec spec;
    spec.argv = {"/bin/sh", sources.folder + "/build.sh"};
    spec.cwd = root_ + "/work";
    spec.env = {"PATH=/usr/bin:/bin",
                "HOME=/nowhere",
                "BENCHCTL_OUT=" + root_ + "/out",
                "BENCHCTL_WORK=" + root_ + "/work",
                "BENCHCTL_ARCH=x86_64",
                "BENCHCTL_ISA=x86-64-v3"};
    spec.deadline = Deadline::in(clock_, std::chrono::minutes(1));
    auto ended = run_command(spec, clock_);
    EXPECT_TRUE(ended.ok());
    return ended ? *ended : CommandResult{};
  }
  std::string text_of(const std::string& path) {
    auto text = read_file(root_ + "/" + path);
    return text ? *text : "absent";
  }

  SystemClock clock_;
  std::string root_;
  Workload workload_;
};

TEST_F(SourceBundle, HoldsSourcesProbesAndWhatWasFetchedAndNothingBuilt) {
  auto sources = bundle();
  ASSERT_TRUE(sources.ok()) << sources.error().message;
  auto entries = scan_tree(sources->folder, {});
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(sha256_hex(format_manifest(*entries)), sources->sha256);
  std::vector<std::string> paths;
  for (const PackEntry& entry : *entries) paths.push_back(entry.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"build.sh", "bundle.json", "made/lib/environment", "made/lib/lib.c",
                                             "on_machine.sh", "sum/build.sh", "sum/part.txt",
                                             "toolchains/tool/probe.sh", "toolchains/tool/toolchain.toml"}));
  EXPECT_EQ(sources->manifest["on_machine"].as_strings(), (std::vector<std::string>{"x86-64-v2", "x86-64-v3"}));
  EXPECT_TRUE(sources->manifest["isa"].is_null());
  // The same again is the same; another source or probe is another.
  EXPECT_EQ(bundle()->sha256, sources->sha256);
  EXPECT_EQ(text_of("fetched"), "x\n");
  write("sum/part.txt", "three\n");
  auto changed = bundle();
  ASSERT_TRUE(changed.ok());
  EXPECT_NE(changed->manifest["key"].as_string(), sources->manifest["key"].as_string());
  EXPECT_EQ(text_of("fetched"), "x\n");
}

TEST_F(SourceBundle, ItsScriptRunsTheRecipeWithTheMachinesTools) {
  auto sources = bundle();
  ASSERT_TRUE(sources.ok()) << sources.error().message;
  auto ended = run_there(*sources);
  ASSERT_TRUE(ended.ok()) << ended.output;
  EXPECT_EQ(text_of("out/sum"), "two\none\nx86-64-v3\n");
  EXPECT_EQ(text_of("out/toolchains.txt"), "tool TOOL_VERSION=tool  \"1\" $HOME\nlib LIB_VERSION=9\n")
      << "what tools say is no shell; places of files do not travel";
  EXPECT_EQ(text_of("out/target.txt"), "x86_64 x86-64-v3\n");
  EXPECT_EQ(text_of("out/sources.json"), text_of("cache/bundles/" + sources->sha256 + "/bundle.json"));
}

TEST_F(SourceBundle, AllThatIsMissingIsToldAtOnce) {
  write("toolchains/other/toolchain.toml",
        "help = \"o\"\nneeds = [\"tool\"]\nprobe = [\"sh\", \"-c\", \"echo other is missing: apt-get install other "
        ">&2; exit 1\"]\n");
  write("toolchains/gone/toolchain.toml",
        "help = \"g\"\nprobe = [\"sh\", \"-c\", \"echo gone is missing >&2; exit 1\"]\n");
  workload_.builds[0].needs = {"gone", "lib", "other"};
  auto sources = bundle();
  ASSERT_TRUE(sources.ok()) << "the machine's tools are no matter of this computer: " << sources.error().message;
  auto ended = run_there(*sources);
  EXPECT_EQ(ended.exit_code, kToolsMissing);
  EXPECT_TRUE(ended.output.ends_with("gone is missing; other is missing: apt-get install other\n")) << ended.output;
  // A step's own exit code of that number is another failure.
  workload_.builds[0].needs = {"lib"};
  write("sum/build.sh", "exit 69\n");
  sources = bundle();
  ASSERT_TRUE(sources.ok());
  EXPECT_EQ(run_there(*sources).exit_code, 1);
}

TEST_F(SourceBundle, WhatCannotBeTakenToAMachineIsRefused) {
  EXPECT_NE(bundle("aarch64").error().message.find("sum/sh is not for building on a machine of aarch64"),
            std::string::npos);
  write("toolchains/lib/toolchain.toml", "help = \"fetched\"\nbuild = [\"sh\", \"build.sh\"]\n");
  auto fixed = bundle();
  ASSERT_FALSE(fixed.ok());
  EXPECT_EQ(fixed.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(fixed.error().message, "toolchain lib is built for one target: it cannot be taken to a machine");
  write("toolchains/lib/toolchain.toml", "help = \"f\"\nbuild = [\"sh\", \"build.sh\"]\nportable = [\"../lib.c\"]\n");
  EXPECT_NE(bundle().error().message.find("portable"), std::string::npos);
}

TEST(ChooseIsa, TheBestThatTheCpuHasOrTheOneThatIsAskedFor) {
  Json manifest = Json::object();
  manifest.set("on_machine", std::vector<std::string>{"x86-64-v2", "x86-64-v3", "x86-64-v4"});
  auto choose = [&](const std::string& wanted, const std::string& cpu) {
    return choose_isa(manifest, wanted, cpu.empty() ? std::vector<std::string>{} : flags_of_isa(cpu));
  };
  EXPECT_EQ(choose("", "x86-64-v3").isa, "x86-64-v3");
  EXPECT_EQ(choose("", "x86-64-v4").isa, "x86-64-v4");
  EXPECT_EQ(choose("x86-64-v2", "x86-64-v4").isa, "x86-64-v2");
  EXPECT_EQ(choose("x86-64-v9", "x86-64-v3").isa, "x86-64-v3") << "one that this recipe does not know";
  IsaChoice lacking = choose("x86-64-v4", "x86-64-v3");
  EXPECT_EQ(lacking.isa, "");
  EXPECT_EQ(lacking.why, "x86-64-v4 needs avx512f, avx512bw, avx512cd, avx512dq, avx512vl, which it lacks");
  lacking = choose_isa(manifest, "", {"sse2"});
  EXPECT_EQ(lacking.isa, "");
  EXPECT_TRUE(lacking.why.starts_with("x86-64-v2 needs cx16")) << lacking.why;
}

}  // namespace
}  // namespace benchctl
