#include "agent/facts/tool.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <chrono>
#include <thread>

#include "lib/files.h"
#include "lib/test_folder.h"
#include "lib/text.h"

namespace benchctl {
namespace {

class ToolTest : public testing::Test {
 protected:
  std::string problem(const std::vector<std::string>& argv, SystemTools::Limits limits = {}) {
    auto printed = SystemTools(clock_, limits).run(argv);
    return printed ? "" : printed.error().message;
  }
  SystemClock clock_;
};

TEST_F(ToolTest, GivesStdoutInTheCLocaleWithoutOurEnvironment) {
  setenv("BENCHCTL_TEST_SECRET", "x", 1);
  auto printed = SystemTools(clock_).run({"env"});
  unsetenv("BENCHCTL_TEST_SECRET");
  ASSERT_TRUE(printed.ok());
  EXPECT_NE(printed->find("LC_ALL=C\n"), std::string::npos);
  EXPECT_EQ(printed->find("BENCHCTL_TEST_SECRET"), std::string::npos);
}

TEST_F(ToolTest, OutputCountsEvenWithABadExitCode) {
  EXPECT_EQ(*SystemTools(clock_).run({"sh", "-c", "echo none; exit 1"}), "none\n");
  EXPECT_EQ(problem({"sh", "-c", "echo err >&2; exit 3"}), "exit 3");
  EXPECT_EQ(problem({"sh", "-c", "kill -9 $$"}), "killed by signal 9");
  EXPECT_EQ(*SystemTools(clock_).run({"true"}), "");
}

TEST_F(ToolTest, AMissingToolIsSaid) {
  EXPECT_EQ(problem({"no-such-tool-here"}), "not installed");
  EXPECT_EQ(problem({"/nonexistent/x"}), "not installed");
  EXPECT_EQ(problem({}), "not installed");
}

TEST_F(ToolTest, EveryProcessOfAHangingToolIsEnded) {
  TestFolder folder;
  std::string script = "sleep 1000 & echo $! > " + (folder / "pid") + "; wait";
  SystemTools::Limits limits{.time = std::chrono::milliseconds(300)};
  EXPECT_NE(problem({"sh", "-c", script}, limits).find("no answer within"), std::string::npos);
  auto pid = read_file(folder / "pid");
  ASSERT_TRUE(pid.ok());
  // Killed, then reaped by init: until then it may still run for a moment or be a zombie.
  std::string stat;
  for (int turn = 0; turn < 500; ++turn) {
    auto now = read_pseudo_file("/proc/" + std::string(trim(*pid)) + "/stat");
    stat = now ? *now : ") Z";
    if (stat.find(") Z") != std::string::npos) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_NE(stat.find(") Z"), std::string::npos) << stat;
}

TEST_F(ToolTest, ATalkativeToolIsCutOff) {
  EXPECT_EQ(problem({"yes"}, {.output_bytes = 100'000}), "printed more than 97.7 KiB");
}

TEST_F(ToolTest, AToolThatClosesItsOutputAndStaysIsEnded) {
  EXPECT_EQ(problem({"sh", "-c", "exec >&-; exec sleep 1000"}, {.time = std::chrono::milliseconds(200)}),
            "did not end after closing its output");
}

}  // namespace
}  // namespace benchctl
