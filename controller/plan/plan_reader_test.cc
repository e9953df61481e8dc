#include "controller/plan/plan_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "controller/plan/expand.h"
#include "controller/plan/plan_fixture.h"
#include "controller/plan/plan_text.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

const char kGood[] = R"(schema = 1
name = "good"
[fleet.small]
provider = "nspawn"
count = 2
cpus = 2
memory = "1GiB"
[schedule]
runs = 7
[[suite]]
workload = "request_shape"
mode = "sequential"
arms = ["c_sqlite", "rust_rusqlite"]
)";

TEST(PlanReader, ReadsAGoodPlanAndFillsDefaults) {
  auto plan = fixture::read(kGood);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->name, "good");
  EXPECT_EQ(plan->fleets.at("small").count, 2);
  EXPECT_EQ(plan->fleets.at("small").spec.image, "trixie");
  EXPECT_EQ(plan->fleets.at("small").spec.options.at("cpus"), "0-1");
  EXPECT_EQ(plan->fleets.at("small").spec.options.at("memory"), "1GiB");
  EXPECT_EQ(plan->schedule.runs, 7);
  EXPECT_EQ(plan->suites[0].name, "request_shape.sequential");
  EXPECT_EQ(plan->suites[0].baseline, "c_sqlite");
  EXPECT_EQ(plan->suites[0].format, "sequential");
  EXPECT_EQ(plan->suites[0].params.at("items"), std::vector<std::string>{"10000"});
  EXPECT_TRUE(plan->warnings.empty()) << join(plan->warnings, "\n");
}

TEST(PlanReader, AllMistakesOfAFileInOneGoInFileOrder) {
  auto plan = fixture::read(R"(schema = 2
[fleet.small]
provider = "nspwan"
regoin = "nyc3"
[schedule]
order = "latni"
runs = "many"
[[suite]]
workload = "request_shap"
)");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(
      plan.error().message,
      "p.toml:1:1: the plan needs name: a name for its runs, such as name = \"local\"\n"
      "p.toml:1:10: schema must be 1, the only one that this version reads\n"
      "p.toml:3:12: provider in [fleet.small] must be one of nspawn, local, ssh, qemu, digitalocean, hetzner, aws, "
      "not \"nspwan\"; did you mean \"nspawn\"?\n"
      "p.toml:4:1: unknown key \"regoin\" in [fleet.small]; did you mean \"region\"?\n"
      "p.toml:6:9: order in [schedule] must be one of latin, abba, fixed, not \"latni\"; did you mean \"latin\"?\n"
      "p.toml:7:8: runs in [schedule] must be an integer, not a text\n"
      "p.toml:9:12: unknown workload \"request_shap\"; did you mean \"request_shape\"?; known: request_shape, spin");
}

TEST(PlanReader, OverridesObeyTheSameRules) {
  auto plan = fixture::read(kGood, {"fleet.small.count=3", "schedule.order=abba", "limits.ttl=2h",
                                    "suite.*.params.items=20000", "suite.0.arms=[\"c_sqlite\"]", "name=\"other\""});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->fleets.at("small").count, 3);
  EXPECT_EQ(plan->schedule.order, "abba");
  EXPECT_EQ(plan->limits.ttl_ms, 2 * 3'600'000);
  EXPECT_EQ(plan->suites[0].params.at("items"), std::vector<std::string>{"20000"});
  EXPECT_EQ(plan->suites[0].arms, std::vector<std::string>{"c_sqlite"});
  EXPECT_EQ(plan->name, "other");

  auto bad = fixture::read(kGood, {"fleet.small.count=many", "fleet.small.cuont=3", "schedule.runs=0", "suite.7.mode=x",
                                   "nothing", "name.x=1", "schedule.seed=1\nruns = 3"});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(
      bad.error().message,
      "--set fleet.small.count=many: count in [fleet.small] must be an integer, not a text\n"
      "--set fleet.small.cuont=3: unknown key \"cuont\" in [fleet.small]; did you mean \"count\"?\n"
      "--set schedule.runs=0: runs in [schedule] must be from 1 to 10000, not 0\n"
      "--set suite.7.mode=x: \"suite\" is a list of 1: name its entry by a number from 0, or * for all, not \"7\"\n"
      "--set nothing: must be PATH=VALUE of at most 4096 bytes, such as fleet.small.count=3\n"
      "--set name.x=1: there is nothing below \"name\", it is a text\n"
      "--set schedule.seed=1\\x0aruns = 3: seed in [schedule] must be an integer, not a text");
}

TEST(PlanReader, TheHashCoversTextAndOverrides) {
  std::string plain = fixture::read(kGood)->sha256;
  EXPECT_EQ(plain, fixture::read(kGood)->sha256);
  EXPECT_NE(plain, fixture::read(std::string(kGood) + "# x\n")->sha256);
  EXPECT_NE(plain, fixture::read(kGood, {"schedule.runs=7"})->sha256);
  EXPECT_NE(fixture::read(kGood, {"schedule.runs=7", "schedule.seed=1"})->sha256,
            fixture::read(kGood, {"schedule.seed=1", "schedule.runs=7"})->sha256);
}

TEST(PlanReader, DoubtsAreWarningsNotMistakes) {
  auto plan = fixture::read(kGood, {"schedule.runs=5", "suite.0.params.items=1000", "schedule.target_ci=1%"});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(join(plan->warnings, "\n"),
            "--set schedule.runs=5: warning: 5 scored rounds give no verdict: that needs 6 or more\n"
            "--set suite.0.params.items=1000: warning: items in [suite.params] is 1000, below 10000: a CPU has not "
            "reached full speed\n"
            "--set schedule.target_ci=1%: warning: target_ci is not acted upon in this version: the run ends after 5 "
            "rounds");
}

TEST(PlanReader, BuildingOnTheMachineSurvivesTheResolvedPlan) {
  const char text[] =
      "schema = 1\nname = \"x\"\n[fleet.a]\nprovider = \"nspawn\"\npackages = [\"gcc\", \"binutils\"]\n"
      "[[suite]]\nworkload = \"spin\"\nbuild = \"on-machine\"\nisa = \"x86-64-v4\"\n";
  auto plan = fixture::read(text);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(plan->suites[0].on_machine);
  EXPECT_EQ(plan->fleets.at("a").spec.options.at("packages"), "binutils,gcc");
  auto again = fixture::read(resolved_toml(*plan));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->suites[0].on_machine);
  EXPECT_EQ(again->fleets.at("a").spec.options, plan->fleets.at("a").spec.options);

  const Workload spin = fixture::workloads()[1];
  EXPECT_EQ(bundle_key(spin, "c", plan->suites[0], "x86_64"), "spin/c x86_64 x86-64-v4 on machine");
  EXPECT_EQ(bundle_key(spin, "c", plan->suites[0], "aarch64"), std::nullopt);
}

TEST(PlanReader, ManyMistakesAreCountedNotListed) {
  std::string text = kGood;
  for (int i = 0; i < 20'000; ++i) text += "x" + std::to_string(i) + " = 1\n";
  auto plan = fixture::read(text);
  ASSERT_FALSE(plan.ok());
  auto lines = split(plan.error().message, '\n');
  ASSERT_EQ(lines.size(), 51u);
  EXPECT_EQ(lines.back(), "p.toml: 9950 or more further mistakes are not shown");
}

class PlanFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/benchctl-plan-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    top_ = folder;
    ASSERT_TRUE(make_dirs(top_ + "/project/plans").ok());
    ASSERT_TRUE(make_dirs(top_ + "/project/bench").ok());
    ASSERT_TRUE(write_atomic(top_ + "/secret", "x").ok());
    ASSERT_TRUE(write_atomic(top_ + "/project/bench/mine", "#!/bin/sh\n", 0755).ok());
  }
  void TearDown() override { EXPECT_TRUE(remove_tree(top_).ok()); }

  Result<Plan> read_command(const std::string& provider, const std::string& command) {
    std::string file = top_ + "/project/plans/x.toml";
    std::string text = "schema = 1\nname = \"x\"\n[fleet.a]\nprovider = \"" + provider +
                       "\"\n[[suite]]\ncommand = [\"" + command +
                       "\", \"--n\", \"{n}\"]\nformat = \"benchctl-csv\"\nparams = { n = [1, 2] }\n";
    if (auto written = write_atomic(file, text); !written) return written.error();
    BENCHCTL_TRY(PlanSource source, load_plan_source(file));
    root_ = source.root;
    source.file = "x.toml";
    return read_plan(source, {}, {});
  }

  std::string top_, root_;
};

TEST_F(PlanFiles, TheRootIsTheNearestParentWithGitElseTheFolder) {
  ASSERT_TRUE(read_command("nspawn", "mine").error().message.find("cannot be read below") != std::string::npos);
  EXPECT_EQ(root_, top_ + "/project/plans");
  ASSERT_TRUE(write_atomic(top_ + "/project/.git", "gitdir: elsewhere").ok());
  auto plan = read_command("nspawn", "./bench/mine");
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(root_, top_ + "/project");
  EXPECT_EQ(plan->suites[0].format, "generic");
  EXPECT_EQ(plan->suites[0].arms, std::vector<std::string>{"mine"});
  EXPECT_EQ(plan->suites[0].params.at("n"), (std::vector<std::string>{"1", "2"}));
}

TEST_F(PlanFiles, NothingOutsideTheRootNoLinksAndRegularFilesOnly) {
  ASSERT_TRUE(make_dirs(top_ + "/project/.git").ok());
  ASSERT_EQ(symlink((top_ + "/secret").c_str(), (top_ + "/project/link").c_str()), 0);
  ASSERT_EQ(symlink(top_.c_str(), (top_ + "/project/up").c_str()), 0);
  ASSERT_EQ(mkfifo((top_ + "/project/fifo").c_str(), 0600), 0);
  for (const char* path :
       {"../secret", "/etc/passwd", "link", "up/secret", "fifo", "bench", "absent", "bench/../bench/mine"}) {
    auto plan = read_command("nspawn", path);
    ASSERT_FALSE(plan.ok()) << path;
    EXPECT_EQ(plan.error().message.rfind("x.toml:6:11: command in [[suite]] ", 0), 0u) << plan.error().message;
  }
}

TEST_F(PlanFiles, AFifoIsNoPlanAndDoesNotHang) {
  ASSERT_EQ(mkfifo((top_ + "/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(load_plan_source(top_ + "/fifo").ok());
  EXPECT_FALSE(load_plan_source(top_ + "/absent").ok());
  EXPECT_FALSE(load_plan_source(top_).ok());
}

TEST_F(PlanFiles, OwnProgramsOnThisComputerNeedTrust) {
  ASSERT_TRUE(make_dirs(top_ + "/project/.git").ok());
  auto boxed = read_command("nspawn", "bench/mine");
  ASSERT_TRUE(boxed.ok()) << boxed.error().message;
  EXPECT_TRUE(check_trust(*boxed, "").ok());
  auto local = read_command("local", "bench/mine");
  ASSERT_TRUE(local.ok()) << local.error().message;
  auto refused = check_trust(*local, "");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "x.toml: this plan runs commands on this computer: suite mine runs bench/mine --n "
            "'{n}'. When you trust it, add --trust-plan " +
                local->sha256);
  EXPECT_FALSE(check_trust(*local, boxed->sha256).ok());
  EXPECT_TRUE(check_trust(*local, local->sha256).ok());
}

}  // namespace
}  // namespace benchctl
