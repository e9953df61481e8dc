// What the ssh provider makes of a machine's answers, friendly or not. A real sshd is in tests/transport.
#include "provisioning/providers/ssh.h"

#include <gtest/gtest.h>

#include "lib/files.h"
#include "lib/test_folder.h"
#include "provisioning/command.h"
#include "provisioning/providers/ssh_scripts.h"

namespace benchctl {
namespace {

class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(Result<CommandResult> answer) : answer_(std::move(answer)) {}
  Result<CommandResult> run(const std::vector<std::string>&, const RunOptions&) override { return answer_; }
  TransportCounts counts() const override { return {}; }
  void interrupt() override {}

 private:
  Result<CommandResult> answer_;
};

class FakeConnector final : public Connector {
 public:
  Result<std::unique_ptr<Transport>> connect(const ConnectRequest& request) override {
    last = request;
    ++connects;
    if (!reachable) return Error{ErrorKind::kProvisioning, "connect to x: nobody there"};
    return std::unique_ptr<Transport>(std::make_unique<FakeTransport>(answer));
  }
  Result<CommandResult> answer = CommandResult{};
  bool reachable = true;
  int connects = 0;
  ConnectRequest last;
};

class SshProviderAnswersTest : public ::testing::Test {
 protected:
  SshProviderAnswersTest()
      : provider_({connector_, clock_, [this](const Endpoint&, Deadline) -> Result<std::string> { return shown_; },
                   folder_.path(), "/home/me", "me@desk pid 1"}) {
    spec_.provider = "ssh";
    spec_.hosts = {{"10.0.0.7", 22, "bench", "~/.ssh/id", key_, ""}, {"fd00::8", 2222, "root", "/k", key_, "sudo"}};
    lease_.nonce = "0123456789ab";
    lease_.name = "bc-0123456789ab";
    lease_.run = "run-a";
    lease_.owner = "owner";
    lease_.expires_unix = clock_.unix_ms() / 1000 + 3600;
  }
  void says(int exit_code, const std::string& output, const std::string& errors = "") {
    connector_.answer = CommandResult{exit_code, "", output, errors};
  }
  Result<Machine> create() { return provider_.create(spec_, lease_, {}); }

  const std::string key_ = "SHA256:" + std::string(43, 'k');
  std::string shown_ = key_;
  TestFolder folder_;
  FakeClock clock_;
  FakeConnector connector_;
  SshProvider provider_;
  MachineSpec spec_;
  Lease lease_;
};

TEST_F(SshProviderAnswersTest, TheSlotPicksTheHost) {
  says(0, "work=/home/bench/.benchctl-bc-0123456789ab\n");
  auto machine = create();
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ("10.0.0.7", connector_.last.endpoint.host);
  EXPECT_EQ("/home/me/.ssh/id", connector_.last.endpoint.key_file);
  EXPECT_EQ(key_, connector_.last.endpoint.host_key);
  EXPECT_FALSE(machine->same_kernel);
  lease_.slot = 1;
  says(0, "work=/var/tmp/benchctl-bc-0123456789ab\nsame_kernel=1\n");
  machine = create();
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ("fd00::8", machine->endpoint->host);
  EXPECT_EQ(2222, machine->endpoint->port);
  EXPECT_EQ("sudo", machine->endpoint->become);
  EXPECT_TRUE(machine->same_kernel);
  lease_.slot = 2;
  EXPECT_EQ(ErrorKind::kUsage, create().error().kind);
}

TEST_F(SshProviderAnswersTest, AFolderThatOursCannotBeIsRefused) {
  for (const char* work : {"", "/", "/etc", "relative/benchctl-bc-0123456789ab", "/x/../benchctl-bc-0123456789ab",
                           "/x/benchctl-bc-other", "/x\x1b[2J/benchctl-bc-0123456789ab"}) {
    says(0, std::string("work=") + work + "\n");
    auto machine = create();
    ASSERT_FALSE(machine.ok()) << work;
    EXPECT_EQ(ErrorKind::kRejected, machine.error().kind);
    EXPECT_EQ(std::string::npos, machine.error().message.find('\x1b'));
  }
  EXPECT_EQ(1u, provider_.list("")->size()) << "it may have made something: to be given back";
}

TEST_F(SshProviderAnswersTest, OnlyWhatMayHaveBeenMadeIsRemembered) {
  connector_.reachable = false;
  EXPECT_FALSE(create().ok());
  EXPECT_EQ(0u, provider_.list("")->size());
  connector_.reachable = true;
  says(75, "run=other\nexpires=1\n");
  EXPECT_EQ(ErrorKind::kInterrupted, create().error().kind);
  EXPECT_EQ(0u, provider_.list("")->size());
  connector_.answer = Error{ErrorKind::kProvisioning, "x: run sh: the connection broke"};
  EXPECT_FALSE(create().ok());
  ASSERT_EQ(1u, provider_.list("owner")->size());
  // The next call is refused as the machine's holder, which is us by an earlier call: still to be given back.
  says(75, "run=other\n");
  EXPECT_FALSE(create().ok());
  Machine machine = provider_.list("owner")->front();
  connector_.reachable = false;
  EXPECT_FALSE(provider_.destroy(machine).ok());
  connector_.reachable = true;
  says(77, "", "processes 12 cannot be ended");
  EXPECT_EQ(ErrorKind::kLeaked, provider_.destroy(machine).error().kind);
  says(0, "");
  EXPECT_TRUE(provider_.destroy(machine).ok());
  EXPECT_EQ(0u, provider_.list("")->size());
  int connects = connector_.connects;
  EXPECT_EQ(MachineState::kGone, *provider_.state(machine));
  EXPECT_TRUE(provider_.destroy(machine).ok());
  EXPECT_EQ(connects, connector_.connects) << "what was given back is not looked for again";
}

TEST_F(SshProviderAnswersTest, AFirstKeyIsKeptPerAddressAndPort) {
  spec_.hosts[0].host_key = kAcceptFirst;
  std::vector<std::string> said;
  auto say = [&](const std::string& line) { said.push_back(line); };
  ASSERT_TRUE(provider_.prepare(spec_, say).ok());
  ASSERT_EQ(1u, said.size());
  shown_ = "SHA256:" + std::string(43, 'z');
  EXPECT_EQ(key_, provider_.endpoint_of(spec_.hosts[0], say)->host_key);
  spec_.hosts[0].port = 23;
  EXPECT_EQ(shown_, provider_.endpoint_of(spec_.hosts[0], say)->host_key);
  EXPECT_EQ(2u, said.size());
  spec_.hosts[0].port = 24;
  shown_ = "";
  EXPECT_FALSE(provider_.endpoint_of(spec_.hosts[0], say).ok());
  spec_.hosts[0].host_key = "";
  EXPECT_EQ(ErrorKind::kUsage, provider_.endpoint_of(spec_.hosts[0], say).error().kind);
}

TEST_F(SshProviderAnswersTest, ADamagedBookIsNoEmptyBook) {
  ASSERT_TRUE(write_atomic(folder_ / "ssh_machines.json", "{\"machines\": [").ok());
  says(0, "work=/var/tmp/benchctl-bc-0123456789ab\n");
  EXPECT_FALSE(create().ok());
  EXPECT_FALSE(provider_.list("").ok());
  EXPECT_EQ(0, connector_.connects);
}

TEST(SshScripts, AreGoodShell) {
  SystemClock clock;
  for (const char* shell : {"dash", "bash", "busybox"}) {
    if (!find_program(shell)) continue;
    for (const std::string& script : {ssh_take_script(), ssh_give_back_script(), ssh_look_script()}) {
      CommandSpec command;
      command.argv = {shell};
      if (std::string(shell) == "busybox") command.argv.push_back("sh");
      command.argv.insert(command.argv.end(), {"-n", "-c", script});
      command.deadline = Deadline::in(clock, std::chrono::seconds(20));
      auto checked = run_checked(command, clock);
      EXPECT_TRUE(checked.ok()) << shell << ": " << checked.error().message;
    }
  }
}

}  // namespace
}  // namespace benchctl
