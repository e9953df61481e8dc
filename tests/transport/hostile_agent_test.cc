// An agent that lies: a shell script in its place.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "controller/remote/agent_client.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "provisioning/ssh/local_transport.h"
#include "tests/transport/sshd_fixture.h"

namespace benchctl::testing {
namespace {

class HostileAgentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    transport_ = std::move(*make_local_transport(system_clock()));
    client_ = std::make_unique<AgentClient>(*transport_, system_clock(), folder_.path());
    client_->use_agent("x");
  }
  // What the agent does when called: $1 is the verb.
  void agent(const std::string& script) {
    ASSERT_TRUE(write_atomic(client_->agent_path(), "#!/bin/sh\n" + script, 0755).ok());
    ASSERT_EQ(0, chmod(client_->agent_path().c_str(), 0755));
  }
  Status pull(const std::string& manifest, const PackCaps& caps = {}) {
    return client_->pull_unit("run-1", "round-0001", folder_.path() + "/dest", sha256_hex(manifest), caps,
                              in_seconds(30));
  }
  std::string follow_error(int64_t from = 1) {
    seen_ = 0;
    auto result = client_->follow(
        "run-1", from,
        [&](const Event&) {
          ++seen_;
          return Status();
        },
        in_seconds(30));
    return result.ok() ? "no error" : result.error().message;
  }
  void expect_nothing_left() { EXPECT_EQ(std::vector<std::string>{"agent-x"}, list_dir(folder_.path()).value()); }

  TempDir folder_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<AgentClient> client_;
  int seen_ = 0;
};

std::string event(int64_t number, const std::string& kind = "trial_started") {
  return event_line({.number = number, .unix_ms = 1, .kind = kind});
}

TEST_F(HostileAgentTest, PacksThatAreNotWhatWasAnnounced) {
  std::string hash = sha256_hex("abc");
  std::string manifest = "benchctl-pack 1 1\n" + hash + " 3 644 a.csv\n";
  agent("printf '" + manifest + "\\nabc'");
  EXPECT_NE(std::string::npos, pull(manifest + "x").error().message.find("announced was"));
  expect_nothing_left();
  agent("printf '" + manifest + "\\nabd'");
  EXPECT_NE(std::string::npos, pull(manifest).error().message.find("differs from the manifest"));
  agent("printf '" + manifest + "\\nab'");
  EXPECT_NE(std::string::npos, pull(manifest).error().message.find("cut short"));
  agent("printf '" + manifest + "\\nabc'; exec cat /dev/zero");
  EXPECT_NE(std::string::npos, pull(manifest).error().message.find("more bytes than declared"));
  std::string outside = "benchctl-pack 1 1\n" + hash + " 3 644 ../outside\n";
  agent("printf '" + outside + "\\nabc'");
  EXPECT_NE(std::string::npos, pull(outside).error().message.find("unsafe path"));
  agent("exec cat /dev/zero");
  EXPECT_NE(std::string::npos, pull(manifest).error().message.find("not a pack"));
  agent("printf '" + manifest + "\\nabc'");
  EXPECT_NE(std::string::npos, pull(manifest, {.file_bytes = 2}).error().message.find("limit"));
  agent("echo 'not sealed yet' >&2; exit 3");
  EXPECT_NE(std::string::npos, pull(manifest).error().message.find("not sealed yet"));
  expect_nothing_left();
  agent("printf '" + manifest + "\\nabc'");
  ASSERT_TRUE(pull(manifest).ok());
  EXPECT_EQ("abc", *read_file(folder_.path() + "/dest/a.csv"));
  ASSERT_TRUE(write_atomic(folder_.path() + "/dest/a.csv", "abd").ok());
  EXPECT_NE(std::string::npos, pull(manifest).error().message.find("holds something else"));
}

TEST_F(HostileAgentTest, EventsOutOfOrderAndEndless) {
  agent("printf '" + event(1) + event(3) + "'");
  EXPECT_NE(std::string::npos, follow_error().find("event 2 is missing"));
  EXPECT_EQ(1, seen_);
  agent("printf '" + event(1) + event(1) + event(2) + event(1) + event(3, "run_done") + "'");
  EXPECT_EQ("no error", follow_error());
  EXPECT_EQ(3, seen_);
  agent("printf '" + event(1, "run_done") + event(2) + "'");
  EXPECT_NE(std::string::npos, follow_error().find("after run_done"));
  agent("printf '" + event(1) + "{\"v\":1,\"n\":2'");
  EXPECT_NE(std::string::npos, follow_error().find("cut in mid-line"));
  agent("tr '\\0' x </dev/zero");
  EXPECT_NE(std::string::npos, follow_error().find("a line over"));
  EXPECT_LT(transport_->counts().bytes_received, 1 << 20);
  agent("printf '\\033[2Jgarbage\\n'");
  std::string said = follow_error();
  EXPECT_EQ(std::string::npos, said.find('\033')) << said;
  agent("printf '" + event(-4) + "'");
  EXPECT_NE(std::string::npos, follow_error().find("without a number"));
}

TEST_F(HostileAgentTest, ARunnerThatHasGoneIsNotWaitedFor) {
  agent("[ \"$1\" = state ] && echo '{\"running\":false,\"pid\":null,\"last_event\":4,\"done\":false}'; exit 0");
  auto gone = client_->follow(
      "run-1", 5, [](const Event&) { return Status(); }, in_seconds(30));
  ASSERT_TRUE(gone.ok());
  EXPECT_FALSE(*gone);
  EXPECT_EQ(2, transport_->counts().channels);
  agent("[ \"$1\" = state ] && echo '{\"running\":false,\"pid\":null,\"last_event\":4,\"done\":true}'; exit 0");
  EXPECT_EQ("no error", follow_error(5));
  agent("[ \"$1\" = state ] && exec cat /dev/zero; exit 0");
  EXPECT_NE(std::string::npos, follow_error(5).find("printed more than"));
}

TEST_F(HostileAgentTest, AnAgentThatDoesNotWaitDoesNotKeepUsBusy) {
  agent("[ \"$1\" = state ] && echo '{\"running\":true,\"pid\":7,\"last_event\":0,\"done\":false}'; exit 0");
  auto result = client_->follow(
      "run-1", 1, [](const Event&) { return Status(); }, in_seconds(2));
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(*result);
  EXPECT_LE(transport_->counts().channels, 8);
}

}  // namespace
}  // namespace benchctl::testing
