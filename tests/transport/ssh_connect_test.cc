// Getting a connection, and losing it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "lib/sha256.h"
#include "lib/text.h"
#include "tests/transport/sshd_fixture.h"
#include "tests/transport/tcp_proxy.h"

namespace benchctl::testing {
namespace {

class SshConnectTest : public ::testing::Test {
 protected:
  SshConnector connector_{system_clock()};
};

RunOptions within(int seconds) {
  RunOptions options;
  options.deadline = in_seconds(seconds);
  return options;
}

TEST_F(SshConnectTest, WaitsForAMachineThatIsNotUpYet) {
  Sshd sshd;
  std::thread later([&] {
    usleep(1'200'000);
    sshd.start(false);
  });
  auto transport = connect_or_fail(connector_, sshd.request());
  later.join();
  ASSERT_NE(nullptr, transport);
  EXPECT_TRUE(transport->run({"true"}, within(20))->ok());
}

TEST_F(SshConnectTest, SaysThatNothingAnsweredWhenNothingDoes) {
  Sshd sshd;  // never started
  auto transport = connector_.connect(sshd.request(std::chrono::seconds(1)));
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, transport.error().kind);
  const std::string& said = transport.error().message;
  EXPECT_NE(std::string::npos, said.find("no SSH server answered")) << said;
  EXPECT_NE(std::string::npos, said.find("refused")) << said;
  EXPECT_EQ(std::string::npos, said.find("our key")) << said;
}

TEST_F(SshConnectTest, AServerThatSaysNothingIsGivenUpAtTheDeadline) {
  Sshd sshd;
  TcpProxy proxy(sshd.port());
  proxy.stall_after(0);
  sshd.start();
  ConnectRequest request = sshd.request(std::chrono::seconds(1));
  request.endpoint.port = proxy.port();
  Nanos started = system_clock().now();
  auto transport = connector_.connect(request);
  ASSERT_FALSE(transport.ok());
  EXPECT_LT(system_clock().now() - started, std::chrono::seconds(15));
  EXPECT_NE(std::string::npos, transport.error().message.find("no answer in time")) << transport.error().message;
}

TEST_F(SshConnectTest, AWrongHostKeyEndsItAtOnceAndNamesBoth) {
  Sshd sshd;
  sshd.start();
  ConnectRequest request = sshd.request(std::chrono::seconds(100));
  std::string real = request.host_key;
  request.host_key = make_key_pair(sshd.folder(), "other").pin;
  Nanos started = system_clock().now();
  auto transport = connector_.connect(request);
  EXPECT_LT(system_clock().now() - started, std::chrono::seconds(50));
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, transport.error().kind);
  EXPECT_NE(std::string::npos, transport.error().message.find(real)) << transport.error().message;
  EXPECT_NE(std::string::npos, transport.error().message.find(request.host_key)) << transport.error().message;
  EXPECT_EQ(std::string::npos, sshd.log().find("userauth")) << "we logged in before looking at the key";
  EXPECT_EQ(std::string::npos, sshd.log().find("Accepted")) << sshd.log();
}

TEST_F(SshConnectTest, NoPinIsNeverTrusted) {
  Sshd sshd;
  sshd.start();
  ConnectRequest request = sshd.request();
  request.host_key.clear();
  EXPECT_FALSE(connector_.connect(request).ok());
}

TEST_F(SshConnectTest, AWrongUserKeyIsToldApartFromASlowBoot) {
  Sshd sshd;
  sshd.start();
  ConnectRequest request = sshd.request(std::chrono::seconds(2));
  request.identity = make_key_pair(sshd.folder(), "stranger").identity;
  auto transport = connector_.connect(request);
  ASSERT_FALSE(transport.ok());
  const std::string& said = transport.error().message;
  EXPECT_NE(std::string::npos, said.find("refuses our key")) << said;
  EXPECT_EQ(std::string::npos, said.find("no SSH server answered")) << said;
}

TEST_F(SshConnectTest, AKeyThatIsRefusedAtFirstIsTriedAgain) {
  Sshd sshd;
  std::string keys = sshd.folder() + "/authorized", aside = keys + ".aside";
  ASSERT_EQ(0, rename(keys.c_str(), aside.c_str()));
  sshd.start();
  std::thread cloud_init([&] {
    usleep(800'000);
    EXPECT_EQ(0, rename(aside.c_str(), keys.c_str()));
  });
  auto transport = connect_or_fail(connector_, sshd.request());
  cloud_init.join();
  EXPECT_NE(nullptr, transport);
  EXPECT_NE(std::string::npos, sshd.log().find("Accepted publickey"));
}

TEST_F(SshConnectTest, AnInterruptEndsWaiting) {
  Sshd sshd;
  std::thread other([&] {
    usleep(300'000);
    connector_.interrupt();
  });
  auto transport = connector_.connect(sshd.request(std::chrono::seconds(100)));
  other.join();
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(ErrorKind::kInterrupted, transport.error().kind);
}

TEST_F(SshConnectTest, ThirtyAtOnceAgainstDefaultMaxStartups) {
  Sshd sshd;
  sshd.start();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 30; ++i)
    threads.emplace_back([&, i] {
      auto transport = connector_.connect(sshd.request(std::chrono::seconds(90)));
      if (!transport) {
        ADD_FAILURE() << transport.error().message;
        return;
      }
      auto result = (*transport)->run({"sh", "-c", "exit " + std::to_string(i)}, within(60));
      if (result.ok() && result->exit_code == i) ++good;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(30, good);
}

TEST_F(SshConnectTest, OverVersionSix) {
  Sshd sshd;
  sshd.start();
  ConnectRequest request = sshd.request();
  request.endpoint.host = "::1";
  auto transport = connect_or_fail(connector_, request);
  ASSERT_NE(nullptr, transport);
  auto result = transport->run({"sh", "-c", "echo $SSH_CONNECTION"}, within(20));
  EXPECT_TRUE(result->output.starts_with("::1 ")) << result->output;
}

TEST_F(SshConnectTest, ALinkThatStallsInMidUploadEndsAtTheDeadline) {
  Sshd sshd;
  sshd.start();
  TcpProxy proxy(sshd.port());
  ConnectRequest request = sshd.request();
  request.endpoint.port = proxy.port();
  auto transport = connect_or_fail(connector_, request);
  ASSERT_NE(nullptr, transport);
  proxy.stall_after(proxy.forwarded() + 3'000'000);
  RunOptions options;
  options.input = source_of(pattern_bytes(40 << 20));
  options.deadline = Deadline::in(system_clock(), std::chrono::milliseconds(1500));
  Nanos started = system_clock().now();
  auto result = transport->run({"sh", "-c", "cat >/dev/null"}, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, result.error().kind);
  EXPECT_NE(std::string::npos, result.error().message.find("its deadline")) << result.error().message;
  EXPECT_LT(system_clock().now() - started, std::chrono::seconds(15));
  EXPECT_LT(transport->counts().bytes_sent, 40 << 20);
}

TEST_F(SshConnectTest, ALinkCutInMidUploadIsSaidAtOnceAndANewOneWorks) {
  Sshd sshd;
  sshd.start();
  TcpProxy proxy(sshd.port());
  ConnectRequest request = sshd.request();
  request.endpoint.port = proxy.port();
  auto transport = connect_or_fail(connector_, request);
  ASSERT_NE(nullptr, transport);
  proxy.cut_after(proxy.forwarded() + 3'000'000);
  RunOptions options = within(100);
  options.input = source_of(pattern_bytes(40 << 20));
  auto result = transport->run({"sh", "-c", "cat >/dev/null"}, options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(std::string::npos, result.error().message.find("127.0.0.1")) << result.error().message;
  EXPECT_EQ(std::string::npos, result.error().message.find("deadline")) << result.error().message;
  auto again = connect_or_fail(connector_, request);
  ASSERT_NE(nullptr, again);
  EXPECT_TRUE(again->run({"true"}, within(20))->ok());
}

// A namespace with nothing but loopback, and sshd in it: unreachable from ours.
TEST_F(SshConnectTest, FromInsideANetworkNamespace) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  TempDir folder;
  std::string name = "bct-" + random_hex(4), path = "/run/netns/" + name;
  ASSERT_EQ(0, system(("ip netns add " + name + " && ip -n " + name + " link set lo up").c_str()));
  {
    Sshd sshd("", path);
    sshd.start();
    auto transport = connect_or_fail(connector_, sshd.request());
    ASSERT_NE(nullptr, transport);
    EXPECT_TRUE(transport->run({"true"}, within(20))->ok());
    ConnectRequest outside = sshd.request(std::chrono::seconds(1));
    outside.endpoint.netns.clear();
    EXPECT_FALSE(connector_.connect(outside).ok());
    ConnectRequest nowhere = sshd.request(std::chrono::seconds(1));
    nowhere.endpoint.netns = "/run/netns/" + name + "-missing";
    EXPECT_NE(std::string::npos, connector_.connect(nowhere).error().message.find("missing"));
  }
  EXPECT_EQ(0, system(("ip netns del " + name).c_str()));
}

}  // namespace
}  // namespace benchctl::testing
