// The verbs over workloads of a few shell lines. With real compilers: tests/workloads.
#include "controller/workloads/verbs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lib/files.h"

namespace benchctl {
namespace {

const char kRecipe[] = R"(sources = ["run.sh"]
steps = [["sh", "-c", "cp run.sh $BENCHCTL_OUT/"]]
arch = ["x86_64", "aarch64"]
isa = ["x86-64", "armv8-a"]
min_glibc = "none"
)";

// Every arm is the same script; `mode` is what the mode declares of itself.
std::string declaration(const std::string& name, const std::vector<std::string>& arms, const std::string& mode = "",
                        const std::string& trace = "") {
  std::string text = "schema = 1\nname = \"" + name + "\"\nversion = \"1\"\nbaseline = \"" + arms.front() + "\"\n" +
                     trace + "[mode.all]\nformat = \"generic\"\n" + mode;
  for (const std::string& arm : arms)
    text += "[arm." + arm + "]\nargv = [\"run.sh\"]\nbuild = \"" + arm + "\"\n[build." + arm + "]\n" + kRecipe;
  return text;
}

class VerbsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/benchctl-verbs-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { (void)remove_tree(root_); }

  void add(const std::string& name, const std::string& declaration, const std::string& script) {
    const std::string folder = root_ + "/" + name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/workload.toml") << declaration;
    std::ofstream(folder + "/run.sh") << "#!/bin/sh\n" << script;
    std::filesystem::permissions(folder + "/run.sh", std::filesystem::perms::owner_all);
  }
  BuildContext context() {
    return BuildContext{root_, root_ + "/cache", clock_, [](const std::string&) {}, {"PATH=/usr/bin:/bin"}};
  }
  // "workload/build" of each line, one after another; the error's message in `said_`.
  std::string built(const std::string& name, const std::vector<std::string>& arms, ErrorKind* kind = nullptr) {
    BuildContext fresh = context();
    std::ostringstream out;
    Status status = workloads_build(name, {.arms = arms}, fresh, out);
    said_ = status ? "" : status.error().message;
    if (kind != nullptr && !status) *kind = status.error().kind;
    std::string names;
    std::istringstream lines(out.str());
    for (std::string line; std::getline(lines, line);) names += line.substr(0, line.find(' ')) + " ";
    return names;
  }

  SystemClock clock_;
  std::string root_, said_;
};

TEST_F(VerbsTest, ABuildOfAnArmWithoutAWorkloadBuildsItWhereItIs) {
  // The first by name does not have it, nor does the last.
  add("apples", declaration("apples", {"red", "green"}), "true\n");
  add("boats", declaration("boats", {"small", "fast"}), "true\n");
  add("cars", declaration("cars", {"red", "fast"}), "true\n");
  add("doors", declaration("doors", {"open"}), "true\n");
  EXPECT_EQ(built("", {"fast"}), "boats/fast cars/fast ");
  EXPECT_EQ(said_, "");
  EXPECT_EQ(built("", {"open", "green"}), "apples/green doors/open ");
  EXPECT_EQ(said_, "");
  EXPECT_EQ(built("cars", {"fast"}), "cars/fast ");
  EXPECT_EQ(said_, "");
  EXPECT_EQ(built("", {}), "apples/red apples/green boats/small boats/fast cars/red cars/fast doors/open ");
}

TEST_F(VerbsTest, AnArmThatNoWorkloadHasIsRefusedBeforeAnythingIsBuilt) {
  add("apples", declaration("apples", {"red", "green"}), "true\n");
  add("boats", declaration("boats", {"small", "fast"}), "true\n");
  ErrorKind kind = ErrorKind::kInternal;
  EXPECT_EQ(built("", {"green", "fasst"}, &kind), "");
  EXPECT_EQ(kind, ErrorKind::kUsage);
  EXPECT_EQ(said_, "no workload has an arm \"fasst\"; did you mean \"fast\"?");
  EXPECT_EQ(built("", {"helicopter"}), "");
  EXPECT_EQ(said_, "no workload has an arm \"helicopter\"; `benchctl workloads list` shows all");
  // Of a workload that is named, its own arms only.
  kind = ErrorKind::kInternal;
  EXPECT_EQ(built("apples", {"fast"}, &kind), "");
  EXPECT_EQ(kind, ErrorKind::kUsage);
  EXPECT_EQ(said_, "workload apples has no arm \"fast\"; it has red, green");
  EXPECT_FALSE(exists(root_ + "/cache/builds"));
}

// Each arm refuses words that are not the right ones.
TEST_F(VerbsTest, TheCheckFillsTheCommandsAtTheModesDefaults) {
  const std::string mode = R"(argv = ["--items", "{items}", "--probe-ms={probe_ms}", "{probe_s}", "{probe}", "{sizes}"]
[mode.all.params.items]
type = "integer"
default = 10
min = 1
[mode.all.params.probe]
type = "duration"
default = "1500ms"
max = "1h"
[mode.all.params.sizes]
type = "integer"
list = true
default = [3, 4]
)";
  const std::string script = R"(case "$*" in
  "--trace 7 1500ms") echo "$*" ;;
  "--items 7 --probe-ms=1500 1.5 1500ms 3") printf 'case,metric,unit,value,better,check\nall,time,us,1,lower,1\n' ;;
  *) echo "called with $*" >&2; exit 1 ;;
esac
)";
  add("waits", declaration("waits", {"one", "two"}, mode, "trace = [\"--trace\", \"{items}\", \"{probe}\"]\n"), script);
  BuildContext fresh = context();
  std::ostringstream out;
  Status status = workloads_check("waits", {.items = 7}, fresh, out);
  EXPECT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(out.str(), "waits: checks agree (2 arms, 7 items, traces identical)\n");
}

}  // namespace
}  // namespace benchctl
