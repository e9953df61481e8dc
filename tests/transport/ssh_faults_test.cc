// What real servers and real networks do: freeze, say nothing, lose large packets, vanish for half a minute.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "controller/remote/agent_client.h"
#include "lib/files.h"
#include "lib/text.h"
#include "tests/transport/net_lab.h"
#include "tests/transport/sshd_fixture.h"

namespace benchctl::testing {
namespace {

constexpr Nanos kShortPatience = std::chrono::milliseconds(600);

RunOptions within(int seconds) {
  return {.deadline = in_seconds(seconds)};
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// A process that stands still until this goes out of scope, however the test ends.
class Frozen {
 public:
  explicit Frozen(pid_t pid) : pid_(pid) { EXPECT_EQ(0, kill(pid_, SIGSTOP)); }
  ~Frozen() { kill(pid_, SIGCONT); }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

 private:
  pid_t pid_;
};

// A server of our own words: greets every client with `words` and goes on as told.
class Greeter {
 public:
  Greeter(std::string words, bool hang_up) : words_(std::move(words)), hang_up_(hang_up) {
    listener_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(0, bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), length));
    EXPECT_EQ(0, listen(listener_.get(), 10));
    EXPECT_EQ(0, getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &length));
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      std::vector<UniqueFd> held;
      while (true) {
        UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) return;
        ++clients_;
        (void)!send(client.get(), words_.data(), words_.size(), MSG_NOSIGNAL);
        if (!hang_up_) held.push_back(std::move(client));
      }
    });
  }
  ~Greeter() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return port_; }
  int clients() const { return clients_; }

 private:
  std::string words_;
  bool hang_up_;
  UniqueFd listener_;
  int port_ = 0;
  std::atomic<int> clients_ = 0;
  std::thread thread_;
};

class SshFaultsTest : public ::testing::Test {
 protected:
  // A machine that is kept: its key lies in a file, its host key in the endpoint.
  static ConnectRequest kept(const Sshd& sshd, int seconds) {
    ConnectRequest request = sshd.request(std::chrono::seconds(seconds));
    request.endpoint.key_file = sshd.folder() + "/client";
    request.endpoint.host_key = request.host_key;
    request.host_key.clear();
    request.identity = {};
    return request;
  }
  std::string why(const ConnectRequest& request) {
    auto transport = connector_.connect(request);
    if (transport.ok()) return "connected";
    kind_ = transport.error().kind;
    return transport.error().message;
  }
  SshConnector connector_{system_clock(), kShortPatience};
  ErrorKind kind_ = ErrorKind::kInternal;
};

TEST_F(SshFaultsTest, WhatIsNoSshServerIsQuoted) {
  Sshd sshd;
  ConnectRequest request = sshd.request(std::chrono::seconds(1));
  {
    Greeter mail("220 mail.example.org ESMTP \x1b[2J\r\n", false);
    request.endpoint.port = mail.port();
    std::string said = why(request);
    EXPECT_TRUE(has(said, "no SSH server; it says: 220 mail.example.org ESMTP \\x1b[2J")) << said;
  }
  {
    Greeter flood(std::string(100'000, 'x'), false);
    request.endpoint.port = flood.port();
    request.deadline = in_seconds(1);
    std::string said = why(request);
    EXPECT_TRUE(has(said, "what answers there is no SSH server; it says: xxx")) << said;
    EXPECT_LT(said.size(), 1000u);
  }
  {
    Greeter busy("Exceeded MaxStartups\r\n", true);
    request.endpoint.port = busy.port();
    request.deadline = in_seconds(1);
    std::string said = why(request);
    EXPECT_TRUE(has(said, "Exceeded MaxStartups")) << said;
    EXPECT_GE(busy.clients(), 2) << "not tried again";
  }
  {
    Greeter greeting_only("SSH-2.0-OpenSSH_9.9\r\n", false);
    request.endpoint.port = greeting_only.port();
    request.deadline = in_seconds(1);
    std::string said = why(request);
    EXPECT_TRUE(has(said, "greets and then stalls")) << said;
    EXPECT_EQ(ErrorKind::kProvisioning, kind_);
  }
}

TEST_F(SshFaultsTest, AFrozenListenerIsSaidAndWaitedFor) {
  // The listener alone freezes; the kernel goes on accepting.
  Sshd sshd;
  sshd.start();
  pid_t pid = sshd.pid();
  ASSERT_GT(pid, 0);
  ASSERT_EQ(0, kill(pid, SIGSTOP));
  std::string said = why(sshd.request(std::chrono::seconds(1)));
  EXPECT_TRUE(has(said, "accepts the connection and says nothing")) << said;
  std::thread thaw([pid] {
    usleep(1'500'000);
    kill(pid, SIGCONT);
  });
  EXPECT_NE(nullptr, connect_or_fail(connector_, sshd.request(std::chrono::seconds(30))));
  thaw.join();
}

TEST_F(SshFaultsTest, AFrozenSessionThatThawsInTimeGoesOn) {
  Sshd sshd;
  sshd.start();
  SshConnector patient(system_clock(), std::chrono::seconds(20));
  auto transport = connect_or_fail(patient, sshd.request());
  ASSERT_NE(nullptr, transport);
  auto parent = transport->run({"sh", "-c", "echo $PPID"}, within(20));
  ASSERT_TRUE(parent.ok());
  pid_t session = static_cast<pid_t>(*parse_int(trim(parent->output)));
  ASSERT_EQ(0, kill(session, SIGSTOP));
  std::thread thaw([session] {
    usleep(1'500'000);
    kill(session, SIGCONT);
  });
  auto result = transport->run({"sh", "-c", "echo alive; exit 5"}, within(60));
  thaw.join();
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ("alive\n", result->output);
  EXPECT_EQ(5, result->exit_code);
}

TEST_F(SshFaultsTest, AFrozenSessionIsGivenUpLongBeforeTheDeadline) {
  Sshd sshd;
  sshd.start();
  auto transport = connect_or_fail(connector_, sshd.request());
  ASSERT_NE(nullptr, transport);
  auto parent = transport->run({"sh", "-c", "echo $PPID"}, within(20));
  ASSERT_TRUE(parent.ok());
  pid_t session = static_cast<pid_t>(*parse_int(trim(parent->output)));
  Result<CommandResult> result = Error{};
  {
    Frozen frozen(session);
    // The deadline is there to end this test, should nothing else.
    result = transport->run({"sleep", "1"}, within(60));
  }
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, result.error().kind);
  EXPECT_TRUE(has(result.error().message, "no sign of life for 1.20 s")) << result.error().message;
  EXPECT_FALSE(has(result.error().message, "MTU")) << result.error().message;
  EXPECT_TRUE(has(transport->run({"true"}, within(10)).error().message, "connect again"));
  auto again = connect_or_fail(connector_, sshd.request());
  ASSERT_NE(nullptr, again);
  EXPECT_TRUE(again->run({"true"}, within(10))->ok());
}

// Silence is no fault: a server that answers is waited for as long as the command takes.
TEST_F(SshFaultsTest, ACommandThatIsSilentForManyTimesThePatienceIsWaitedFor) {
  Sshd sshd;
  sshd.start();
  auto transport = connect_or_fail(connector_, sshd.request());
  ASSERT_NE(nullptr, transport);
  auto result = transport->run({"sh", "-c", "sleep 5; echo late"}, within(60));
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ("late\n", result->output);
}

TEST_F(SshFaultsTest, AKeptMachineThatRefusesOurKeyIsNotWaitedFor) {
  Sshd sshd;
  sshd.start();
  ConnectRequest request = kept(sshd, 300);
  EXPECT_NE(nullptr, connect_or_fail(connector_, request));
  make_key_pair(sshd.folder(), "stranger");
  request.endpoint.key_file = sshd.folder() + "/stranger";
  Nanos started = system_clock().now();
  std::string said = why(request);
  EXPECT_TRUE(has(said, "refuses the key " + request.endpoint.key_file)) << said;
  EXPECT_EQ(ErrorKind::kProvisioning, kind_);
  EXPECT_LT(system_clock().now() - started, std::chrono::seconds(100));
  ASSERT_EQ(0, chmod(request.endpoint.key_file.c_str(), 0644));
  EXPECT_TRUE(has(why(request), "chmod 600"));
  EXPECT_EQ(ErrorKind::kUsage, kind_);
}

TEST_F(SshFaultsTest, AKeptMachineMayBePinnedByAnyOfItsKeys) {
  TempDir keys;
  std::string more;
  std::vector<std::string> pins;
  for (const char* type : {"rsa", "ecdsa"}) {
    KeyPair pair = make_key_pair(keys.path(), std::string("host-") + type, type);
    pins.push_back(pair.pin);
    more += std::string("HostKey ") + keys.path() + "/host-" + type + "\n";
  }
  Sshd sshd(more);
  sshd.start();
  ConnectRequest request = kept(sshd, 60);
  const std::string best = request.endpoint.host_key;
  EXPECT_EQ(best, *connector_.host_key_of(request.endpoint, in_seconds(20)));
  for (const std::string& pin : pins) {
    request.endpoint.host_key = pin;
    EXPECT_NE(nullptr, connect_or_fail(connector_, request)) << pin;
  }
  request.endpoint.host_key = "SHA256:" + std::string(43, 'x');
  std::string said = why(request);
  EXPECT_TRUE(has(said, best)) << said;
  EXPECT_TRUE(has(said, "another machine")) << said;
  // One of our own making has one key, and no other kind is asked for.
  request = sshd.request(std::chrono::seconds(20));
  request.host_key = pins[0];
  EXPECT_TRUE(has(why(request), "another machine"));
}

TEST_F(SshFaultsTest, RootThroughSudo) {
  TempDir bin;
  // Stands in for sudo: takes exactly what we may send, and leaves a trace of it.
  ASSERT_TRUE(write_atomic(bin.path() + "/sudo",
                           "#!/bin/sh\n[ \"$1 $2\" = '-n --' ] || exit 64\nshift 2\nSUDO_UID=1234 exec \"$@\"\n", 0755)
                  .ok());
  Sshd sshd("ForceCommand PATH=" + bin.path() + ":$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n");
  sshd.start();
  ConnectRequest request = kept(sshd, 20);
  request.endpoint.become = "sudo";
  auto transport = connect_or_fail(connector_, request);
  ASSERT_NE(nullptr, transport);
  auto result = transport->run({"sh", "-c", "echo $SUDO_UID; cat; exit 3"},
                               {.deadline = in_seconds(20), .input = source_of("a'b\n")});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ("1234\na'b\n", result->output);
  EXPECT_EQ(3, result->exit_code);
  // A command's own words are never taken for sudo's.
  result = transport->run({"sh", "-c", "echo sudo: a password is required >&2; exit 1"}, within(20));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(1, result->exit_code);

  ASSERT_TRUE(
      write_atomic(bin.path() + "/sudo", "#!/bin/sh\necho 'sudo: a password is required' >&2; exit 1\n", 0755).ok());
  result = transport->run({"true"}, within(20));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, result.error().kind);
  EXPECT_TRUE(has(result.error().message, "could not become root by sudo: sudo: a password is required"))
      << result.error().message;
  EXPECT_TRUE(has(result.error().message, "NOPASSWD")) << result.error().message;
}

TEST_F(SshFaultsTest, ASlowAndTalkativeLoginShellIsRemarkedUpon) {
  Sshd plain;
  plain.start();
  auto transport = connect_or_fail(connector_, plain.request());
  ASSERT_NE(nullptr, transport);
  ASSERT_TRUE(transport->run({"sh", "-c", "sleep 2.2"}, within(20)).ok());
  EXPECT_EQ("", transport->remark());
  Sshd sshd("ForceCommand echo Welcome; sleep 2.2; exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n");
  sshd.start();
  transport = connect_or_fail(connector_, sshd.request());
  ASSERT_NE(nullptr, transport);
  EXPECT_EQ("hello\n", transport->run({"echo", "hello"}, within(20))->output);
  EXPECT_TRUE(has(transport->remark(), "login shell took 2.")) << transport->remark();
  EXPECT_TRUE(has(transport->remark(), "prints text before every command (\"Welcome\")")) << transport->remark();
}

class SshLabTest : public SshFaultsTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root for network namespaces";
    lab_ = std::make_unique<NetLab>();
    ASSERT_TRUE(lab_->ok());
    sshd_ = std::make_unique<Sshd>(
        std::string("ListenAddress ") + NetLab::kMachine + "\nListenAddress " + NetLab::kMachine6 + "\n",
        lab_->machine());
    sshd_->start();
  }
  ConnectRequest request(int seconds, const char* host = NetLab::kMachine) {
    ConnectRequest request = sshd_->request(std::chrono::seconds(seconds));
    request.endpoint.netns = lab_->here();
    request.endpoint.host = host;
    return request;
  }
  std::unique_ptr<NetLab> lab_;
  std::unique_ptr<Sshd> sshd_;
};

TEST_F(SshLabTest, AMachineThatNeverBoots) {
  Nanos started = system_clock().now();
  std::string said = why(request(4, NetLab::kNobody));
  EXPECT_TRUE(has(said, "nothing answers at all")) << said;
  EXPECT_EQ(ErrorKind::kProvisioning, kind_);
  EXPECT_LT(system_clock().now() - started, std::chrono::seconds(10));
}

TEST_F(SshLabTest, LargePacketsThatGetLostAreSaidAndAvoided) {
  for (const char* host : {NetLab::kMachine, NetLab::kMachine6}) {
    SCOPED_TRACE(host);
    lab_->narrow(1500);
    SshConnector connector(system_clock());
    auto transport = connect_or_fail(connector, request(20, host));
    ASSERT_NE(nullptr, transport);
    lab_->narrow(1300);
    ASSERT_TRUE(transport->run({"echo", "small"}, within(20)).ok());
    std::string bytes = pattern_bytes(3'000'000);
    RunOptions upload{.deadline = in_seconds(5), .input = source_of(bytes)};
    auto result = transport->run({"wc", "-c"}, upload);
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(has(result.error().message, "MTU")) << result.error().message;
    transport = connect_or_fail(connector, request(20, host));
    ASSERT_NE(nullptr, transport);
    upload = {.deadline = in_seconds(60), .input = source_of(bytes)};
    result = transport->run({"cat"}, upload);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(bytes, result->output);
    EXPECT_TRUE(has(transport->remark(), "MTU")) << transport->remark();
  }
}

// The path loses large packets from the beginning: the handshake itself may need small ones.
TEST_F(SshLabTest, AHandshakeOnANarrowPathSucceedsInTheEnd) {
  lab_->narrow(600);
  auto transport = connect_or_fail(connector_, request(60));
  ASSERT_NE(nullptr, transport) << sshd_->log();
}

// Half a minute without a link, in the middle of following a run: nothing is lost, nothing comes twice.
TEST_F(SshLabTest, ALinkCutForHalfAMinuteLosesNothing) {
  const std::string agent = std::string(BENCHCTL_BINARY_DIR) + "/bin/benchagent";
  TempDir machine;
  ASSERT_EQ(0, chmod(machine.path().c_str(), 0755));
  SshConnector connector(system_clock());
  auto transport = connect_or_fail(connector, request(20));
  ASSERT_NE(nullptr, transport);
  auto client = std::make_unique<AgentClient>(*transport, system_clock(), machine.path() + "/W");
  auto installed = client->install_agent(agent, in_seconds(60));
  ASSERT_TRUE(installed.ok()) << installed.error().message;
  TempDir bundle;
  ASSERT_TRUE(write_atomic(bundle.path() + "/work",
                           "#!/bin/sh\nsleep 1\necho case,metric,unit,value,better,check\necho a,time,s,1.5,lower,7\n",
                           0755)
                  .ok());
  ASSERT_EQ(0, chmod((bundle.path() + "/work").c_str(), 0755));
  auto shipped = client->install_bundle(bundle.path(), in_seconds(60));
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  Job job;
  job.run = "run-1";
  job.machine = "m";
  job.bundles_dir = client->bundles_dir();
  job.linger_ms = 100;
  job.quiet_wait_ms = 0;
  for (int round = 1; round <= 25; ++round) {
    TrialSpec trial;
    trial.trial = round;
    trial.suite = "s";
    trial.arm = "a";
    trial.round = round;
    trial.format = "generic";
    trial.bundle = shipped->sha256;
    trial.phases = {{"run", {"work"}}};
    trial.timeout_ms = 20'000;
    job.rounds.push_back({round, {trial}});
  }
  ASSERT_TRUE(client->start(job, in_seconds(60)).ok());
  std::vector<int64_t> numbers;
  std::thread link;
  bool cut = false, done = false;
  int losses = 0;
  while (!done && losses < 20) {
    auto end = client->follow(
        "run-1", numbers.empty() ? 1 : numbers.back() + 1,
        [&](const Event& event) {
          numbers.push_back(event.number);
          if (!cut && event.number >= 6) {
            cut = true;
            link = std::thread([&] {
              lab_->cut();
              sleep(30);
              lab_->mend();
            });
          }
          return Status();
        },
        in_seconds(100));
    if (end.ok()) {
      done = *end;
      continue;
    }
    ++losses;
    EXPECT_EQ(ErrorKind::kProvisioning, end.error().kind) << end.error().message;
    transport = connect_or_fail(connector, request(100));
    ASSERT_NE(nullptr, transport);
    client = std::make_unique<AgentClient>(*transport, system_clock(), machine.path() + "/W");
    client->use_agent(installed->sha256);
  }
  if (link.joinable()) link.join();
  EXPECT_TRUE(done);
  EXPECT_TRUE(cut);
  EXPECT_GE(numbers.size(), 75u);
  for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(static_cast<int64_t>(i) + 1, numbers[i]);
  bool running = true;
  for (int tries = 0; running && tries < 200; ++tries, usleep(50'000)) {
    auto state = client->state("run-1", in_seconds(30));
    ASSERT_TRUE(state.ok());
    running = state->running;
  }
  EXPECT_FALSE(running);
}

}  // namespace
}  // namespace benchctl::testing
