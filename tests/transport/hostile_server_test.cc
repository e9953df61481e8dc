// A server that wants to harm us: what it says and sends is bounded in memory, on the disk and on the terminal.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "controller/remote/agent_client.h"
#include "controller/remote/event_stream.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "tests/transport/sshd_fixture.h"

namespace benchctl::testing {
namespace {

constexpr int64_t kMemory = 64 << 20;

// The most memory that this process has had at once since the construction, above what it had then.
class PeakMemory {
 public:
  PeakMemory() : before_(field("VmRSS:")) {
    UniqueFd fd(open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
    EXPECT_EQ(1, write(fd.get(), "5", 1));
  }
  int64_t grown() const { return field("VmHWM:") - before_; }

 private:
  static int64_t field(const std::string& name) {
    std::string status = read_pseudo_file("/proc/self/status").value();
    size_t at = status.find(name) + name.size();
    return parse_int(trim(std::string_view(status).substr(at, status.find(" kB", at) - at))).value_or(0) << 10;
  }
  int64_t before_;
};

void expect_clean(const std::string& said) {
  EXPECT_FALSE(said.empty());
  // Not by our own sanitiser: it may be what is wrong.
  for (unsigned char c : said) EXPECT_TRUE(c >= 0x20 && c != 0x7F) << "byte " << int{c} << " acts on a terminal";
  for (const char* hidden : {"\u202e", "\u2028", "\u009b"}) EXPECT_EQ(std::string::npos, said.find(hidden));
  EXPECT_LT(said.size(), 4000U);
}

// A real sshd that runs one script whatever it is asked for. $verb is what we wanted of the agent.
class HostileServerTest : public ::testing::Test {
 protected:
  HostileServerTest() : sshd_("ForceCommand /bin/sh " + scripts_.path() + "/answer\n") {}

  void SetUp() override {
    sshd_.start();
    transport_ = connect_or_fail(connector_, sshd_.request());
    ASSERT_NE(nullptr, transport_);
    client_ = std::make_unique<AgentClient>(*transport_, system_clock(), "/work");
    client_->use_agent(std::string(64, 'a'));
  }

  // The marker that our command line prints first is known to whoever reads it.
  void answer(const std::string& script) {
    ASSERT_TRUE(write_atomic(
                    scripts_.path() + "/answer",
                    "printf %s \"$SSH_ORIGINAL_COMMAND\" | grep -o 'bc-[0-9a-f]\\{16\\}' | head -n 1\n" + script + "\n")
                    .ok());
  }

  Status follow() {
    seen_ = 0;
    auto result = client_->follow(
        "run-1", 1,
        [&](const Event&) {
          ++seen_;
          return Status();
        },
        in_seconds(120));
    return result.ok() ? Status() : result.error();
  }

  TempDir scripts_, home_;
  SshConnector connector_{system_clock()};
  Sshd sshd_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<AgentClient> client_;
  int64_t seen_ = 0;
};

TEST_F(HostileServerTest, WordsThatWouldActOnATerminal) {
  answer("printf '\\033]0;owned\\007\\033[2J\\nsecond line\\342\\200\\256' >&2; exit 9");
  auto facts = client_->facts(in_seconds(30));
  ASSERT_FALSE(facts.ok());
  expect_clean(facts.error().message);
  EXPECT_NE(std::string::npos, facts.error().message.find("\\x1b]0;owned")) << facts.error().message;
  answer("printf '{\"\\033[2J\":1}\\n'");
  for (const Error& error : {client_->facts(in_seconds(30)).error(), follow().error()}) expect_clean(error.message);
  // Never our marker: the login shell's noise.
  ASSERT_TRUE(write_atomic(scripts_.path() + "/answer", "printf '\\033[31mWelcome\\n'").ok());
  expect_clean(client_->facts(in_seconds(30)).error().message);
}

TEST_F(HostileServerTest, EndlessFacts) {
  answer("exec cat /dev/zero");
  PeakMemory memory;
  auto facts = client_->facts(in_seconds(60));
  ASSERT_FALSE(facts.ok());
  EXPECT_NE(std::string::npos, facts.error().message.find("printed more than")) << facts.error().message;
  EXPECT_LT(transport_->counts().bytes_received, 32 << 20);
  EXPECT_LT(memory.grown(), kMemory);
}

TEST_F(HostileServerTest, EndlessErrors) {
  answer("timeout 2 cat /dev/zero >&2; exit 1");
  PeakMemory memory;
  auto facts = client_->facts(in_seconds(60));
  ASSERT_FALSE(facts.ok());
  expect_clean(facts.error().message);
  EXPECT_GT(transport_->counts().bytes_received, 1 << 20);
  EXPECT_LT(memory.grown(), kMemory);
}

// Good lines without end: each is believable, all of them are not.
TEST_F(HostileServerTest, EndlessEvents) {
  answer(
      "exec awk 'BEGIN { for (n = 1;; n++) printf "
      "\"{\\\"v\\\":1,\\\"n\\\":%d,\\\"t\\\":1,\\\"kind\\\":\\\"noise\\\"}\\n\", n }'");
  PeakMemory memory;
  auto ended = follow();
  ASSERT_FALSE(ended.ok());
  EXPECT_NE(std::string::npos, ended.error().message.find("events: more than")) << ended.error().message;
  EXPECT_EQ(EventStream::kMostEvents, seen_);
  EXPECT_LT(memory.grown(), kMemory);
}

// Gigabytes that repeat what we know: no event is delivered twice, and the bytes are counted all the same.
TEST_F(HostileServerTest, GigabytesOfTheSameEvent) {
  std::string event = R"({"v":1,"n":1,"t":1,"kind":"noise","x":")" + std::string(60'000, 'x') + "\"}";
  ASSERT_TRUE(write_atomic(scripts_.path() + "/event", event).ok());
  answer("exec yes \"$(cat " + scripts_.path() + "/event)\"");
  PeakMemory memory;
  auto ended = follow();
  ASSERT_FALSE(ended.ok());
  EXPECT_NE(std::string::npos, ended.error().message.find("events: more than 128 MiB")) << ended.error().message;
  EXPECT_EQ(1, seen_);
  EXPECT_LT(transport_->counts().bytes_received, 192 << 20);
  EXPECT_LT(memory.grown(), kMemory);
}

TEST_F(HostileServerTest, PacksThatWantOutOrLie) {
  const std::string hash = sha256_hex("abc");
  auto line = [&](const std::string& size, const std::string& path) {
    return hash + " " + size + " 644 " + path + "\n";
  };
  const std::pair<std::string, std::string> packs[] = {
      {"up", "benchctl-pack 1 1\n" + line("3", "../owned")},
      {"deep", "benchctl-pack 1 1\n" + line("3", "a/../../owned")},
      {"absolute", "benchctl-pack 1 1\n" + line("3", home_.path() + "/owned")},
      {"twice", "benchctl-pack 1 2\n" + line("3", "a") + line("3", "a")},
      {"file as folder", "benchctl-pack 1 2\n" + line("3", "a") + line("3", "a/b")},
      {"a link's mode", "benchctl-pack 1 1\n" + hash + " 3 120777 a\n"},
      {"countless", "benchctl-pack 1 999999999999\n"},
      {"huge", "benchctl-pack 1 1\n" + line("4611686018427387904", "a")},
      {"negative", "benchctl-pack 1 1\n" + line("-1", "a")},
      {"more than there is room for", "benchctl-pack 1 1\n" + line("1099511627776", "a")},
      {"escape", "benchctl-pack 1 1\n" + line("3", "\033[2J")},
  };
  PeakMemory memory;
  const PackCaps wide{.files = 50'000, .file_bytes = int64_t{2} << 40, .total_bytes = int64_t{2} << 40};
  for (const auto& [name, manifest] : packs) {
    ASSERT_TRUE(write_atomic(scripts_.path() + "/pack", manifest + "\nabcabc").ok());
    answer("cat " + scripts_.path() + "/pack");
    auto pulled = client_->pull_unit("run-1", "round-0001", home_.path() + "/unit/dest", sha256_hex(manifest), wide,
                                     in_seconds(60));
    ASSERT_FALSE(pulled.ok()) << name;
    expect_clean(pulled.error().message);
    if (name.find("room") != std::string::npos) {
      EXPECT_NE(std::string::npos, pulled.error().message.find("it needs 1.0 TiB")) << pulled.error().message;
    }
    EXPECT_EQ(std::vector<std::string>{"unit"}, list_dir(home_.path()).value()) << name;
    EXPECT_TRUE(list_dir(home_.path() + "/unit").value().empty()) << name << ": " << pulled.error().message;
  }
  EXPECT_FALSE(exists("/tmp/owned"));
  // A file that never ends, and a manifest that never ends.
  answer("printf 'benchctl-pack 1 1\\n" + hash + " 3 644 a\\n\\nabc'; exec cat /dev/zero");
  EXPECT_FALSE(client_
                   ->pull_unit("run-1", "round-0001", home_.path() + "/unit/dest",
                               sha256_hex("benchctl-pack 1 1\n" + line("3", "a")), {}, in_seconds(60))
                   .ok());
  answer("printf 'benchctl-pack 1 100000\\n'; exec awk 'BEGIN { for (;;) print \"" + hash + " 3 644 a\" n++ }'");
  EXPECT_FALSE(client_->pull_unit("run-1", "round-0001", home_.path() + "/unit/dest", hash, {}, in_seconds(60)).ok());
  EXPECT_TRUE(list_dir(home_.path() + "/unit").value().empty());
  EXPECT_LT(memory.grown(), kMemory);
}

// Speaks before any SSH is spoken: each connection gets `greeting` first and then `forever` until it is closed.
class RudeServer {
 public:
  RudeServer(std::string greeting, std::string forever)
      : greeting_(std::move(greeting)), forever_(std::move(forever)), port_(free_port()) {
    listener_.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int yes = 1;
    setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(0, bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
    EXPECT_EQ(0, listen(listener_.get(), 8));
    thread_ = std::thread([this] { serve(); });
  }
  ~RudeServer() {
    stop_ = true;
    thread_.join();
  }
  int port() const { return port_; }
  int64_t sent() const { return sent_; }

 private:
  void serve() {
    while (!stop_) {
      pollfd waiting{listener_.get(), POLLIN, 0};
      if (poll(&waiting, 1, 50) <= 0) continue;
      UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      timeval patience{0, 100'000};
      setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
      bool open = say(client.get(), greeting_);
      while (open && !stop_ && !forever_.empty()) open = say(client.get(), forever_);
    }
  }
  bool say(int fd, const std::string& text) {
    ssize_t count = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (count > 0) sent_ += count;
    return count > 0;
  }

  std::string greeting_, forever_;
  int port_;
  UniqueFd listener_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> sent_ = 0;
};

TEST(HostileBanner, GreetingsThatNeverEndOrActOnATerminal) {
  Sshd never_started;
  const std::string page(64 << 10, 'A');
  const std::pair<std::string, std::string> greetings[] = {
      {"SSH-2.0-\033]0;owned\007\033[2J\r\n", ""},
      {"\033[2Jnot ssh at all\r\n", ""},
      {"SSH-2.0-", page},                                 // a version without end
      {"", page},                                         // a line without end
      {"hello\r\n", "\033[31mand another line\r\n"},      // lines without end
      {"SSH-1.0-old\r\n", ""},                            //
      {"SSH-2.0-x\r\n", std::string("\xff\xff\xff\xff")}  // a packet of 4 GiB
  };
  for (const auto& [greeting, forever] : greetings) {
    RudeServer server(greeting, forever);
    ConnectRequest request = never_started.request(std::chrono::seconds(2));
    request.endpoint.port = server.port();
    SshConnector connector(system_clock());
    PeakMemory memory;
    auto transport = connector.connect(request);
    ASSERT_FALSE(transport.ok()) << sanitize(greeting);
    EXPECT_EQ(ErrorKind::kProvisioning, transport.error().kind);
    expect_clean(transport.error().message);
    EXPECT_LT(memory.grown(), kMemory) << sanitize(greeting);
  }
}

}  // namespace
}  // namespace benchctl::testing
