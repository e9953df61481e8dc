// The same contract without a network.
#include "provisioning/ssh/local_transport.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "lib/files.h"
#include "lib/text.h"
#include "tests/transport/sshd_fixture.h"

namespace benchctl::testing {
namespace {

class LocalTransportTest : public ::testing::Test {
 protected:
  void SetUp() override { transport_ = std::move(*make_local_transport(system_clock())); }
  Result<CommandResult> sh(const std::string& script, RunOptions options = {}) {
    if (options.deadline.at == Nanos{0}) options.deadline = in_seconds(30);
    return transport_->run({"sh", "-c", script}, options);
  }
  std::unique_ptr<Transport> transport_;
};

size_t open_fds() {
  return list_dir("/proc/self/fd")->size();
}

TEST_F(LocalTransportTest, ExitCodesSignalsAndStreams) {
  auto result = sh("echo out; echo err >&2; exit 41");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(41, result->exit_code);
  EXPECT_EQ("out\n", result->output);
  EXPECT_EQ("err\n", result->errors);
  EXPECT_EQ("KILL", sh("kill -KILL $$")->signal);
  EXPECT_EQ(127, transport_->run({"/no/such/program"}, {.deadline = in_seconds(9)})->exit_code);
  EXPECT_EQ(126, transport_->run({"/etc/passwd"}, {.deadline = in_seconds(9)})->exit_code);
}

TEST_F(LocalTransportTest, UploadArrivesIntactWhileTheCommandPrints) {
  std::string bytes = pattern_bytes(20 << 20), returned;
  RunOptions options;
  options.input = source_of(bytes, 123'457);
  options.on_output = [&](std::string_view piece) {
    returned += piece;
    return Status();
  };
  ASSERT_EQ(0, sh("cat", options)->exit_code);
  EXPECT_TRUE(bytes == returned);
  EXPECT_EQ(20 << 20, transport_->counts().bytes_sent);
  EXPECT_EQ(20 << 20, transport_->counts().bytes_received);
}

TEST_F(LocalTransportTest, ACommandThatDoesNotReadItsInputStillEnds) {
  RunOptions options;
  options.input = source_of(pattern_bytes(5 << 20));
  EXPECT_EQ(4, sh("head -c 5 >/dev/null; exit 4", options)->exit_code);
}

TEST_F(LocalTransportTest, DeadlineKillsTheWholeGroupEvenAfterItsLeader) {
  TempDir folder;
  for (std::string script : {"sleep 1000 & echo $! >F; sleep 1000", "sleep 1000 & echo $! >F; exit 0"}) {
    script.replace(script.find('F'), 1, folder.path() + "/pid");
    RunOptions options;
    options.deadline = Deadline::in(system_clock(), std::chrono::milliseconds(500));
    auto result = sh(script, options);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(ErrorKind::kProvisioning, result.error().kind);
    pid_t child = static_cast<pid_t>(*parse_int(trim(*read_file(folder.path() + "/pid"))));
    auto gone = [&] {  // a zombie that init has not reaped yet is gone, too
      auto stat = read_pseudo_file("/proc/" + std::to_string(child) + "/stat");
      return !stat.ok() || stat->find(") Z ") != std::string::npos;
    };
    int left = 300;
    while (!gone() && --left > 0) usleep(10'000);
    EXPECT_GT(left, 0) << script;
  }
  EXPECT_EQ(0, sh("true")->exit_code) << "a missed deadline does not break a local transport";
}

TEST_F(LocalTransportTest, CapsAndInterrupt) {
  RunOptions options;
  options.output_cap = 1000;
  auto result = sh("exec cat /dev/zero", options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(std::string::npos, result.error().message.find("printed more than")) << result.error().message;
  std::thread other([&] {
    usleep(200'000);
    transport_->interrupt();
  });
  EXPECT_EQ(ErrorKind::kInterrupted, sh("sleep 1000").error().kind);
  other.join();
  EXPECT_EQ(ErrorKind::kInterrupted, sh("true").error().kind);
}

TEST_F(LocalTransportTest, NothingOfOursReachesTheCommand) {
  setenv("BENCHCTL_TEST_TOKEN", "secret", 1);
  auto result = transport_->run({"env"}, {.deadline = in_seconds(9)});
  unsetenv("BENCHCTL_TEST_TOKEN");
  EXPECT_EQ(std::string::npos, result->output.find("secret")) << result->output;
  UniqueFd leaky(dup(2));  // not close-on-exec, as a library might leave it
  result = sh("ls -l /proc/self/fd");
  EXPECT_EQ(0, result->exit_code);
}

TEST_F(LocalTransportTest, LeavesNoZombieAndNoDescriptor) {
  size_t before = open_fds();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(3, sh("exit 3")->exit_code);
    EXPECT_TRUE(transport_->run({"/no/such/program"}, {.deadline = in_seconds(9)}).ok());
    EXPECT_FALSE(sh("sleep 1000", {.deadline = Deadline::in(system_clock(), std::chrono::milliseconds(20))}).ok());
  }
  EXPECT_EQ(before, open_fds());
  std::string self = std::to_string(getpid());
  auto children = read_pseudo_file("/proc/self/task/" + self + "/children");
  EXPECT_TRUE(!children.ok() || children->empty()) << *children;
}

TEST_F(LocalTransportTest, TheConnectorGoesByTheEndpointsKind) {
  SshConnector ssh(system_clock());
  AnyConnector any(ssh, system_clock());
  ConnectRequest here;
  here.endpoint.kind = Endpoint::Kind::kLocal;
  here.deadline = in_seconds(9);
  auto local = connect_or_fail(any, here);
  ASSERT_NE(nullptr, local);
  EXPECT_EQ("", local->run({"sh", "-c", "printf %s \"$SSH_CONNECTION\""}, {.deadline = in_seconds(9)})->output);
  Sshd sshd;
  sshd.start();
  auto remote = connect_or_fail(any, sshd.request());
  ASSERT_NE(nullptr, remote);
  EXPECT_NE("", remote->run({"sh", "-c", "printf %s \"$SSH_CONNECTION\""}, {.deadline = in_seconds(9)})->output);
}

}  // namespace
}  // namespace benchctl::testing
