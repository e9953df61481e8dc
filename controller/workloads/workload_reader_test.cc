#include <gtest/gtest.h>

#include <map>

#include "controller/workloads/workload.h"
#include "lib/text.h"

namespace benchctl {
namespace {

const char kGood[] = R"(schema = 1
name = "sum"
version = "1"
baseline = "plain"
trace = ["--trace"]
[mode.run]
format = "sequential"
argv = ["--items", "{items}", "--time={span_s}", "{kind}"]
expected_seconds = 2
[mode.run.params.items]
type = "integer"
default = 10
min = 1
max = 100
warn_below = 5
warn_reason = "too few"
[mode.run.params.span]
type = "duration"
default = "1500ms"
max = "1h"
[mode.run.params.kind]
type = "text"
list = true
default = ["a", "b"]
choices = ["a", "b", "c"]
factors = [1, 0.5, 20]
[arm.plain]
argv = ["bin/plain"]
build = "c"
only_modes = ["run"]
[build.c]
sources = ["*.c"]
steps = [["make"], ["make", "install"]]
needs = ["cc"]
arch = "x86_64"
isa = "x86-64-v2"
min_glibc = "none"
)";

Result<Workload> parse(const std::string& text) {
  return parse_workload(text, "sum/workload.toml", "/x/sum");
}

// The good text with one part replaced; its error message.
std::string mistake(const std::string& part, const std::string& instead) {
  std::string text = kGood;
  size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), instead);
  auto workload = parse(text);
  EXPECT_FALSE(workload.ok()) << instead;
  if (workload.ok()) return "";
  EXPECT_EQ(workload.error().kind, ErrorKind::kUsage);
  return workload.error().message;
}

TEST(WorkloadReader, ATraceNamesParametersOfEveryModeThatHaveOneValue) {
  const std::string trace = "trace = [\"--trace\"]";
  EXPECT_NE(mistake(trace, "trace = [\"--trace\", \"--n\", \"{itms}\"]")
                .find("names the parameter \"itms\", which the mode run does not declare; did you mean \"items\"?"),
            std::string::npos);
  EXPECT_NE(mistake(trace, "trace = [\"{kind}\"]").find("\"kind\", of which a suite may have many values"),
            std::string::npos);
  std::string good = kGood;
  good.replace(good.find(trace), trace.size(), "trace = [\"--trace={items}\"]");
  EXPECT_TRUE(parse(good).ok());
}

TEST(WorkloadReader, ReadsAllOfIt) {
  auto workload = parse(kGood);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(workload->name, "sum");
  EXPECT_EQ(workload->folder, "/x/sum");
  EXPECT_EQ(workload->trace, std::vector<std::string>{"--trace"});
  EXPECT_TRUE(workload->info.empty());
  const ModeDecl* mode = workload->mode("run");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(mode->format, "sequential");
  EXPECT_EQ(mode->expected_seconds, 2);
  EXPECT_TRUE(mode->params[0].grows && mode->params[1].grows);
  EXPECT_EQ(mode->params[2].factors, (std::vector<double>{1, 0.5, 20}));
  ASSERT_EQ(mode->params.size(), 3u);
  EXPECT_EQ(mode->params[0].default_value, "10");
  EXPECT_EQ(mode->params[0].max, 100);
  EXPECT_EQ(mode->params[0].warn_below, 5);
  EXPECT_EQ(mode->params[1].type, ParamDecl::Type::kDuration);
  EXPECT_EQ(mode->params[1].default_value, "1500ms");
  EXPECT_EQ(mode->params[1].max, 3'600'000);
  EXPECT_EQ(mode->params[2].default_value, "a,b");
  ASSERT_NE(workload->arm("plain"), nullptr);
  EXPECT_EQ(workload->arm("plain")->argv, std::vector<std::string>{"bin/plain"});
  ASSERT_NE(workload->build("c"), nullptr);
  EXPECT_EQ(workload->build("c")->steps[1], (std::vector<std::string>{"make", "install"}));
  EXPECT_EQ(workload->arm("none"), nullptr);
}

TEST(WorkloadReader, NamesMistakesWithPlaceAndWhatWasMeant) {
  EXPECT_EQ(mistake("baseline = \"plain\"", "baseline = \"plian\""),
            "sum/workload.toml:4:12: baseline names the arm \"plian\", which does not exist; did you mean \"plain\"?");
  EXPECT_EQ(
      mistake("build = \"c\"", "build = \"d\""),
      "sum/workload.toml:29:9: build in [arm.plain] names the build \"d\", which does not exist; did you mean \"c\"?");
  EXPECT_NE(mistake("format = \"sequential\"", "fromat = \"sequential\"")
                .find("sum/workload.toml:7:1: unknown key \"fromat\" in [mode.run]; did you mean \"format\"?"),
            std::string::npos);
  EXPECT_NE(mistake("name = \"sum\"", "name = \"summ\"")
                .find(":2:8: name in workload.toml must be the name of its folder, \"sum\""),
            std::string::npos);
  EXPECT_NE(mistake("{items}", "{item}")
                .find(":8:8: argv in [mode.run] names the parameter \"item\", which the mode does not declare; did you "
                      "mean \"items\"?"),
            std::string::npos);
  EXPECT_NE(mistake("default = 10\n", "default = 101\n")
                .find(":12:11: default in [mode.run.params.items] is outside min and max"),
            std::string::npos);
  EXPECT_NE(mistake("default = [\"a\", \"b\"]", "default = [\"a\", \"d\"]").find("must be one of a, b, c, not \"d\""),
            std::string::npos);
  EXPECT_NE(mistake("list = true\n", "").find("must be one value: list is not true"), std::string::npos);
  EXPECT_NE(mistake("\"1500ms\"", "1500").find("must be a time with its unit"), std::string::npos);
  EXPECT_NE(mistake("bin/plain", "/bin/plain").find("must begin with a path relative to the bundle"),
            std::string::npos);
  EXPECT_NE(mistake("bin/plain", "../plain").find("must begin with a path relative to the bundle"), std::string::npos);
  EXPECT_NE(mistake("\"*.c\"", "\"../*.c\"").find("must lie below the workload's folder"), std::string::npos);
  EXPECT_NE(
      mistake("steps = [[\"make\"], [\"make\", \"install\"]]", "steps = [\"make\"]").find("must be a list of commands"),
      std::string::npos);
  EXPECT_NE(mistake("schema = 1", "schema = 2").find("schema"), std::string::npos);
  EXPECT_NE(mistake("only_modes = [\"run\"]", "only_modes = [\"ran\"]")
                .find("names the mode \"ran\", which does not exist; did you mean \"run\"?"),
            std::string::npos);
  EXPECT_NE(mistake("expected_seconds = 2", "expected_seconds = 0").find("above 0"), std::string::npos);
  for (const char* bad : {"factors = [1, 2]", "factors = [1, 2, 0]", "factors = [1, 2, \"3\"]", "factors = 3",
                          "factors = [1, 2, 3, \"4\"]"})
    EXPECT_NE(mistake("factors = [1, 0.5, 20]", bad).find("as many as there are choices"), std::string::npos) << bad;
  EXPECT_NE(mistake("factors = [1, 0.5, 20]", "grows = true").find("is for integers and durations only"),
            std::string::npos);
  EXPECT_NE(mistake("[arm.plain]", "[arm.\"Plain one\"]").find("must be named with a-z"), std::string::npos);
}

TEST(WorkloadReader, TellsAllMistakesAtOnce) {
  auto nothing = parse("name = 3\nversoin = \"1\"\n");
  ASSERT_FALSE(nothing.ok());
  std::string message = nothing.error().message;
  for (const char* part : {"name in workload.toml must be a text", "unknown key \"versoin\"", "needs schema",
                           "needs baseline", "needs mode", "needs arm", "needs build"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in\n" << message;
}

TEST(WorkloadReader, OurOwnDeclarationsAreGood) {
  auto all = load_workloads(BENCHCTL_SOURCE_DIR "/workloads");
  ASSERT_TRUE(all.ok()) << all.error().message;
  std::map<std::string, std::string> baselines;
  for (const Workload& one : *all) {
    baselines[one.name] = one.baseline;
    EXPECT_NE(one.arm(one.baseline), nullptr) << one.name;
  }
  std::map<std::string, std::string> expected = {{"api_costs", "autocommit"},
                                                 {"bulk_load", "unset"},
                                                 {"engine", "baseline"},
                                                 {"json_encode", "column"},
                                                 {"request_shape", "c_sqlite"}};
  EXPECT_EQ(baselines, expected);
}

}  // namespace
}  // namespace benchctl
