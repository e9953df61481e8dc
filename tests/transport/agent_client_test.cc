// The agent client against the real agent, over SSH and locally.
#include "controller/remote/agent_client.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "provisioning/ssh/local_transport.h"
#include "tests/transport/sshd_fixture.h"
#include "tests/transport/tcp_proxy.h"

namespace benchctl::testing {
namespace {

const std::string kAgent = std::string(BENCHCTL_BINARY_DIR) + "/bin/benchagent";

enum class Over { kSsh, kLocal };

class AgentClientTest : public ::testing::TestWithParam<Over> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(exists(kAgent)) << "build benchagent first";
    // The trials' own user must reach the bundles.
    ASSERT_EQ(0, chmod(machine_.path().c_str(), 0755));
    if (GetParam() == Over::kSsh) {
      sshd_ = std::make_unique<Sshd>();
      sshd_->start();
      proxy_ = std::make_unique<TcpProxy>(sshd_->port());
    }
    reconnect();
    write("bundle/bin/work", "#!/bin/sh\necho case,metric,unit,value,better,check\necho a,time,s,1.5,lower,7\n", 0755);
    write("bundle/data/words.txt", pattern_bytes(300'000), 0644);
  }
  void TearDown() override {
    if (!started_) return;
    reconnect();  // a test may have left its connection broken
    client_->use_agent(agent_);
    EXPECT_TRUE(client_->stop("run-1", in_seconds(30)).ok());
    bool running = true;
    for (int tries = 0; running && tries < 600; ++tries, usleep(50'000)) {
      auto state = client_->state("run-1", in_seconds(30));
      ASSERT_TRUE(state.ok()) << state.error().message;
      running = state->running;
    }
    EXPECT_FALSE(running);
  }
  void write(const std::string& relative, const std::string& text, int mode) {
    std::string path = home_.path() + "/" + relative;
    ASSERT_TRUE(make_dirs(path.substr(0, path.rfind('/'))).ok());
    ASSERT_TRUE(write_atomic(path, text, mode).ok());
    ASSERT_EQ(0, chmod(path.c_str(), static_cast<mode_t>(mode)));
  }
  void reconnect() {
    client_.reset();
    transport_.reset();
    if (GetParam() == Over::kLocal) {
      transport_ = std::move(*make_local_transport(system_clock()));
    } else {
      ConnectRequest request = sshd_->request();
      request.endpoint.port = proxy_->port();
      transport_ = connect_or_fail(connector_, request);
    }
    ASSERT_NE(nullptr, transport_);
    client_ = std::make_unique<AgentClient>(*transport_, system_clock(), machine_.path() + "/W");
  }
  int64_t channels() const { return transport_->counts().channels; }

  Job job(int rounds) {
    Job job;
    job.run = "run-1";
    job.machine = "m";
    job.seed = 5;
    job.bundles_dir = client_->bundles_dir();
    job.linger_ms = 100;
    job.quiet_wait_ms = 0;
    for (int round = 1; round <= rounds; ++round) {
      TrialSpec trial;
      trial.trial = round;
      trial.suite = "s";
      trial.arm = "a";
      trial.round = round;
      trial.format = "generic";
      trial.bundle = bundle_;
      trial.phases = {{"run", {"bin/work"}}};
      trial.timeout_ms = 20'000;
      job.rounds.push_back({round, {trial}});
    }
    return job;
  }
  void install() {
    auto agent = client_->install_agent(kAgent, in_seconds(60));
    ASSERT_TRUE(agent.ok()) << agent.error().message;
    auto bundle = client_->install_bundle(home_.path() + "/bundle", in_seconds(60));
    ASSERT_TRUE(bundle.ok()) << bundle.error().message;
    agent_ = agent->sha256;
    bundle_ = bundle->sha256;
  }

  SshConnector connector_{system_clock()};
  TempDir machine_, home_;
  std::unique_ptr<Sshd> sshd_;
  std::unique_ptr<TcpProxy> proxy_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<AgentClient> client_;
  std::string agent_, bundle_;
  bool started_ = false;
};

TEST_P(AgentClientTest, InstallsOnceAndSecondTimeSendsNothing) {
  auto agent = client_->install_agent(kAgent, in_seconds(60));
  ASSERT_TRUE(agent.ok()) << agent.error().message;
  EXPECT_TRUE(agent->uploaded);
  EXPECT_EQ(2, channels());
  EXPECT_EQ(*sha256_file(kAgent), *sha256_file(client_->agent_path()));
  auto bundle = client_->install_bundle(home_.path() + "/bundle", in_seconds(60));
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  EXPECT_TRUE(bundle->uploaded);
  EXPECT_EQ(3, channels());
  EXPECT_EQ(sha256_hex(format_manifest(*scan_tree(client_->bundles_dir() + "/" + bundle->sha256, {}))), bundle->sha256);
  EXPECT_FALSE(client_->install_bundle(home_.path() + "/bundle", in_seconds(60))->uploaded);
  EXPECT_EQ(3, channels());

  reconnect();
  int64_t sent = transport_->counts().bytes_sent;
  EXPECT_FALSE(client_->install_agent(kAgent, in_seconds(60))->uploaded);
  EXPECT_FALSE(client_->install_bundle(home_.path() + "/bundle", in_seconds(60))->uploaded);
  EXPECT_EQ(1, channels());
  EXPECT_EQ(sent, transport_->counts().bytes_sent);

  reconnect();
  client_->use_agent(agent->sha256);
  EXPECT_FALSE(client_->install_bundle(home_.path() + "/bundle", in_seconds(60))->uploaded);
  EXPECT_EQ(1, channels());
}

TEST_P(AgentClientTest, ADamagedAgentIsReplaced) {
  install();
  ASSERT_EQ(0, truncate(client_->agent_path().c_str(), 1000));
  reconnect();
  auto agent = client_->install_agent(kAgent, in_seconds(60));
  ASSERT_TRUE(agent.ok()) << agent.error().message;
  EXPECT_TRUE(agent->uploaded);
  EXPECT_EQ(*sha256_file(kAgent), *sha256_file(client_->agent_path()));
}

TEST_P(AgentClientTest, WhatCannotBeExecutedThereIsRejected) {
  write("not-an-agent",
        std::string("\x7f"
                    "ELF\x02\x01\x01\0",
                    8) +
            "garbage",
        0755);
  auto agent = client_->install_agent(home_.path() + "/not-an-agent", in_seconds(60));
  ASSERT_FALSE(agent.ok());
  EXPECT_EQ(ErrorKind::kRejected, agent.error().kind) << agent.error().message;
  write("other-version", "#!/bin/sh\necho '{\"version\":\"9\",\"job\":77,\"event\":1,\"facts\":1,\"trial\":1}'\n",
        0755);
  agent = client_->install_agent(home_.path() + "/other-version", in_seconds(60));
  ASSERT_FALSE(agent.ok());
  EXPECT_NE(std::string::npos, agent.error().message.find("job format")) << agent.error().message;
}

TEST_P(AgentClientTest, FactsComeHome) {
  install();
  int64_t before = channels();
  auto facts = client_->facts(in_seconds(60));
  ASSERT_TRUE(facts.ok()) << facts.error().message;
  EXPECT_EQ(1, channels() - before);
  EXPECT_NE("", facts->text("kernel", "release"));
}

TEST_P(AgentClientTest, AJobIsFollowedPulledAndVerified) {
  install();
  int64_t before = channels();
  auto begun = client_->start(job(2), in_seconds(60));
  ASSERT_TRUE(begun.ok()) << begun.error().message;
  started_ = true;
  EXPECT_EQ(1, channels() - before);
  before = channels();
  Nanos started = system_clock().now();
  std::vector<int64_t> numbers;
  std::vector<std::string> units;
  auto done = client_->follow(
      "run-1", 1,
      [&](const Event& event) -> Status {
        numbers.push_back(event.number);
        if (event.kind != "round_sealed" && event.kind != "run_done") return {};
        std::string unit = event.fields["unit"].as_string(), dest = home_.path() + "/units/" + unit;
        if (unit.empty()) return {};
        units.push_back(unit);
        // While the follower's channel stays open.
        BENCHCTL_CHECK(client_->pull_unit("run-1", unit, dest, event.fields["manifest_sha256"].as_string(), PackCaps{},
                                          in_seconds(60)));
        return client_->pull_unit("run-1", unit, dest, event.fields["manifest_sha256"].as_string(), PackCaps{},
                                  in_seconds(60));  // there already: no channel
      },
      in_seconds(100));
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(*done);
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(static_cast<int64_t>(i) + 1, numbers[i]);
  ASSERT_GE(units.size(), 3u);
  // One channel a unit and one a slice, however long the machine took.
  int64_t slices = 1 + (system_clock().now() - started) / std::chrono::seconds(AgentClient::kFollowSliceSeconds);
  EXPECT_LE(channels() - before, slices + static_cast<int64_t>(units.size()));
  auto out = read_file(home_.path() + "/units/round-0001/trials/000001/a1/stdout");
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_NE(std::string::npos, out->find("a,time,s,1.5,lower,7")) << *out;
  EXPECT_EQ(units.size(), list_dir(home_.path() + "/units").value().size()) << "something temporary was left";
  EXPECT_TRUE(client_->state("run-1", in_seconds(30))->done);
  EXPECT_TRUE(*client_->follow(
      "run-1", numbers.back() + 1, [](const Event&) { return Status(); }, in_seconds(60)));
  EXPECT_FALSE(client_
                   ->pull_unit("run-1", "round-0099", home_.path() + "/units/x", std::string(64, 'a'), PackCaps{},
                               in_seconds(30))
                   .ok());
  EXPECT_FALSE(exists(home_.path() + "/units/x"));
}

TEST_P(AgentClientTest, FollowingResumesAfterACutWithNoEventLostOrDoubled) {
  install();
  ASSERT_TRUE(client_->start(job(3), in_seconds(60)).ok());
  started_ = true;
  std::vector<int64_t> numbers;
  int cuts = 0;
  for (int connections = 0; connections < 40; ++connections) {
    int64_t from = numbers.empty() ? 1 : numbers.back() + 1;
    auto done = client_->follow(
        "run-1", from,
        [&](const Event& event) {
          numbers.push_back(event.number);
          if (event.number % 4 == 0) transport_->interrupt();  // the connection is lost under the follower
          return Status();
        },
        in_seconds(100));
    if (done.ok()) {
      EXPECT_TRUE(*done);
      break;
    }
    ++cuts;
    reconnect();
    client_->use_agent(agent_);
  }
  EXPECT_GE(cuts, 2);
  ASSERT_GE(numbers.size(), 9u);
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(static_cast<int64_t>(i) + 1, numbers[i]);
}

TEST_P(AgentClientTest, AnotherJobUnderTheSameRunIsRefusedAndTheSameIsNot) {
  install();
  ASSERT_TRUE(client_->start(job(1), in_seconds(60)).ok());
  started_ = true;
  EXPECT_TRUE(client_->start(job(1), in_seconds(60)).ok());
  auto other = client_->start(job(2), in_seconds(60));
  ASSERT_FALSE(other.ok());
  EXPECT_NE(std::string::npos, other.error().message.find("another job")) << other.error().message;
}

TEST_P(AgentClientTest, RoundsAreAppendedAndTheRunIsStopped) {
  install();
  Job first = job(1);
  first.linger_ms = 60'000;
  ASSERT_TRUE(client_->start(first, in_seconds(60)).ok());
  started_ = true;
  ASSERT_TRUE(client_->append_round("run-1", job(2).rounds[1], in_seconds(60)).ok());
  std::vector<std::string> kinds;
  auto done = client_->follow(
      "run-1", 1,
      [&](const Event& event) -> Status {
        kinds.push_back(event.kind);
        if (event.kind == "round_sealed" && event.fields["round"].as_int() == 2)
          return client_->stop("run-1", in_seconds(60));
        return {};
      },
      in_seconds(100));
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_TRUE(*done);
  EXPECT_EQ("run_done", kinds.back());
  EXPECT_NE(kinds.end(), std::find(kinds.begin(), kinds.end(), "round_appended"));
}

INSTANTIATE_TEST_SUITE_P(Over, AgentClientTest, ::testing::Values(Over::kSsh, Over::kLocal),
                         [](const auto& parameter) { return parameter.param == Over::kSsh ? "Ssh" : "Local"; });

}  // namespace
}  // namespace benchctl::testing
