#include "controller/analysis/analysis_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "lib/files.h"

namespace benchctl {
namespace {

// A stand-in for Python: a script that answers what the test wants and keeps what it was asked.
class AnalysisClient : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "analysis-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { EXPECT_TRUE(remove_tree(root_)); }

  AnalysisEnv env_with(const std::string& script) {
    std::string python = root_ + "/analysis/.venv/bin/python";
    EXPECT_TRUE(make_dirs(root_ + "/analysis/.venv/bin"));
    EXPECT_TRUE(write_atomic(python, "#!/bin/sh\ncat > " + root_ + "/asked\n" + script + "\n", 0700));
    return analysis_env(root_);
  }

  Result<Json> ask(const AnalysisEnv& env) {
    Json request = Json::object();
    request.set("verb", "report");
    return analyse(request, env, clock_, Deadline::in(clock_, std::chrono::seconds(20)));
  }

  std::string why(const AnalysisEnv& env) {
    auto answer = ask(env);
    return answer ? "" : answer.error().message;
  }

  SystemClock clock_;
  std::string root_;
};

TEST_F(AnalysisClient, SendsTheRequestWithItsProtocolAndGivesTheAnswer) {
  auto answer = ask(env_with(R"(echo '{"protocol":1,"ok":true,"terminal":"done"}')"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ((*answer)["terminal"].as_string(), "done");
  auto asked = read_file(root_ + "/asked");
  ASSERT_TRUE(asked);
  EXPECT_EQ(*asked, "{\"verb\":\"report\",\"protocol\":1}\n");
}

TEST_F(AnalysisClient, MissingEnvironmentSaysHowToRepairIt) {
  std::string message = why(analysis_env(root_));
  EXPECT_NE(message.find(root_ + "/analysis/.venv/bin/python does not exist"), std::string::npos) << message;
  EXPECT_NE(message.find("repair it by: " + root_ + "/setup/install"), std::string::npos) << message;
}

TEST_F(AnalysisClient, FailuresAreNamed) {
  struct Case {
    const char* script;
    const char* words;
  };
  for (const Case& c : std::initializer_list<Case>{
           {R"(echo '{"protocol":2,"ok":true}')", "it speaks protocol 2, this benchctl speaks 1"},
           {R"(echo '{"ok":true}')", "it speaks protocol null"},
           {R"(echo '{"protocol":1,"ok":false,"error":"no run r9"}')", "analysis: no run r9"},
           {R"(echo '{"protocol":1,"ok":')", "its answer is no JSON"},
           {"echo first >&2; printf 'No module named \\033[31mpandas\\n' >&2; exit 1",
            "No module named \\x1b[31mpandas"},
           {"kill -9 $$", "ended by SIGKILL"},
       }) {
    std::string message = why(env_with(c.script));
    EXPECT_NE(message.find(c.words), std::string::npos) << c.script << " gave: " << message;
  }
}

TEST_F(AnalysisClient, DeadlineEndsIt) {
  AnalysisEnv env = env_with("sleep 600");
  Json request = Json::object();
  auto answer = analyse(request, env, clock_, Deadline::in(clock_, std::chrono::milliseconds(300)));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kInternal);
}

TEST_F(AnalysisClient, PackageIsFoundInTheSourceTreeOrBesideThePython) {
  EXPECT_EQ(analysis_env(root_).package_dir, "");
  EXPECT_EQ(analysis_env(BENCHCTL_SOURCE_DIR).package_dir, BENCHCTL_SOURCE_DIR "/analysis");
  AnalysisEnv other = analysis_env(root_, BENCHCTL_SOURCE_DIR "/analysis/.venv/bin/python");
  EXPECT_EQ(other.package_dir, BENCHCTL_SOURCE_DIR "/analysis");
  EXPECT_EQ(other.python, BENCHCTL_SOURCE_DIR "/analysis/.venv/bin/python");
}

}  // namespace
}  // namespace benchctl
