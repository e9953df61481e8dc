// Commands over a real sshd: exit codes, streams, caps, deadlines, what login shells do.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"
#include "tests/transport/sshd_fixture.h"

namespace benchctl::testing {
namespace {

class SshTransportTest : public ::testing::Test {
 protected:
  void SetUp() override { use(""); }
  void use(const std::string& extra_config) {
    transport_.reset();
    sshd_.reset();
    sshd_ = std::make_unique<Sshd>(extra_config);
    sshd_->start();
    transport_ = connect_or_fail(connector_, sshd_->request());
    ASSERT_NE(nullptr, transport_);
  }
  Result<CommandResult> sh(const std::string& script, RunOptions options = {}) {
    if (options.deadline.at == Nanos{0}) options.deadline = in_seconds(30);
    return transport_->run({"sh", "-c", script}, options);
  }

  SshConnector connector_{system_clock()};
  std::unique_ptr<Sshd> sshd_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(SshTransportTest, EveryExitCodeComesHome) {
  for (int code = 0; code < 50; ++code) {
    auto result = sh("echo out; echo err >&2; exit " + std::to_string(code));
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_EQ(code, result->exit_code);
    EXPECT_EQ("out\n", result->output);
    EXPECT_EQ("err\n", result->errors);
  }
  EXPECT_EQ(50, transport_->counts().channels);
  EXPECT_EQ(1, transport_->counts().connects);
  EXPECT_EQ(0, transport_->counts().bytes_sent);
}

TEST_F(SshTransportTest, AKilledCommandNamesItsSignal) {
  auto result = sh("kill -KILL $$");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ("KILL", result->signal);
  EXPECT_FALSE(result->ok());
}

TEST_F(SshTransportTest, MegabytesOnBothStreamsTogether) {
  RunOptions options;
  options.output_cap = options.error_cap = 64 << 20;
  auto result = sh("head -c 9000000 /dev/zero >&2 & head -c 7000000 /dev/zero; wait; echo end", options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(7'000'004u, result->output.size());
  EXPECT_EQ(9'000'000u, result->errors.size());
}

TEST_F(SshTransportTest, UploadArrivesIntactWhileTheCommandPrints) {
  std::string bytes = pattern_bytes(20 << 20);
  std::string returned;
  RunOptions options;
  options.deadline = in_seconds(60);
  options.input = source_of(bytes, 123'457);
  options.on_output = [&](std::string_view piece) {
    returned += piece;
    return Status();
  };
  auto result = transport_->run({"cat"}, options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(0, result->exit_code);
  EXPECT_EQ(bytes.size(), returned.size());
  EXPECT_TRUE(bytes == returned) << "differs from byte "
                                 << std::mismatch(bytes.begin(), bytes.end(), returned.begin()).first - bytes.begin();
  EXPECT_EQ(20 << 20, transport_->counts().bytes_sent);
}

TEST_F(SshTransportTest, ACommandThatDoesNotReadItsInputStillEnds) {
  RunOptions options;
  options.input = source_of(pattern_bytes(20 << 20));
  auto result = sh("head -c 5; exit 4", options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(4, result->exit_code);
  EXPECT_LT(transport_->counts().bytes_sent, 20 << 20);
}

TEST_F(SshTransportTest, NastyWordsArriveAsTheyAre) {
  std::vector<std::string> words = {"",
                                    " ",
                                    "a b",
                                    "'",
                                    "\"",
                                    "\\",
                                    "\\n",
                                    "\n",
                                    "x\n",
                                    "$HOME",
                                    "`id`",
                                    "$(id)",
                                    "!!",
                                    "!x",
                                    "*",
                                    "~",
                                    "a'b\"c",
                                    "-n",
                                    "%s%n",
                                    "\\0101",
                                    "\t",
                                    "äöü€",
                                    "=ls",
                                    "{a,b}",
                                    "#c",
                                    ";",
                                    "&& exit 9",
                                    "|",
                                    ">x",
                                    "<",
                                    "^",
                                    "\x01\x7f\xff",
                                    "'\\''",
                                    "[a-z]",
                                    "line1\nline2\n\n",
                                    "A=1"};
  std::string expected;
  for (const std::string& word : words) expected += word + "|";
  std::vector<std::string> argv = {"sh", "-c", "for w; do printf '%s|' \"$w\"; done", "sh"};
  argv.insert(argv.end(), words.begin(), words.end());
  auto result = transport_->run(argv, {.deadline = in_seconds(20)});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(expected, result->output);
}

TEST_F(SshTransportTest, OutputBeyondTheCapEndsTheCommandAndNotTheSession) {
  RunOptions options;
  options.output_cap = 1000;
  auto result = sh("echo $$ >" + sshd_->folder() + "/pid; exec cat /dev/zero", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, result.error().kind);
  EXPECT_NE(std::string::npos, result.error().message.find("printed more than 1000 B")) << result.error().message;
  EXPECT_LT(transport_->counts().bytes_received, 4 << 20);
  auto after = sh("kill -0 $(cat " + sshd_->folder() + "/pid)");
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_NE(0, after->exit_code) << "the endless command still runs";
}

TEST_F(SshTransportTest, ErrorsBeyondTheCapAreDropped) {
  RunOptions options;
  options.error_cap = 1000;
  auto result = sh("head -c 3000000 /dev/zero >&2; echo done", options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(1000u, result->errors.size());
  EXPECT_EQ("done\n", result->output);
}

TEST_F(SshTransportTest, AnErrorOfTheCallersSinkOrSourceEndsTheCommandAndNotTheSession) {
  RunOptions options;
  options.on_output = [](std::string_view) -> Status { return Error{ErrorKind::kWorkload, "sink says no"}; };
  auto result = sh("cat /dev/zero", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kWorkload, result.error().kind);
  EXPECT_NE(std::string::npos, result.error().message.find("sink says no"));
  options = {};
  options.input = []() -> Result<std::string> { return Error{ErrorKind::kUsage, "source says no"}; };
  result = sh("cat", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kUsage, result.error().kind);
  auto after = sh("exit 3");
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(3, after->exit_code);
}

TEST_F(SshTransportTest, ACommandInsideOnOutputOfAnother) {
  std::string inner;
  RunOptions options;
  options.on_output = [&](std::string_view piece) -> Status {
    if (piece.find('a') == std::string_view::npos) return {};
    auto result = sh("head -c 3000000 /dev/zero | wc -c");
    if (!result) return result.error();
    inner += result->output;
    return {};
  };
  auto result = sh("echo a; head -c 3000000 /dev/zero; echo b; sleep 0.3; echo a; exit 9", options);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(9, result->exit_code);
  EXPECT_EQ("3000000\n3000000\n", inner);
}

TEST_F(SshTransportTest, ACommandThatOutlivesItsDeadlineIsAnErrorAndEnds) {
  std::string pid_file = sshd_->folder() + "/pid";
  RunOptions options;
  options.deadline = Deadline::in(system_clock(), std::chrono::milliseconds(1500));
  auto result = sh("echo $$ >" + pid_file + "; while sleep 0.05; do echo tick; done", options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, result.error().kind);
  EXPECT_NE(std::string::npos, result.error().message.find("its deadline")) << result.error().message;
  EXPECT_NE(std::string::npos, result.error().message.find("@127.0.0.1:")) << result.error().message;
  auto again = sh("true");
  ASSERT_FALSE(again.ok());
  EXPECT_NE(std::string::npos, again.error().message.find("connect again"));
  auto pid = read_file(pid_file);
  ASSERT_TRUE(pid.ok());
  auto gone = [&] {  // a zombie that process 1 has not reaped is gone, too
    auto stat = read_pseudo_file("/proc/" + std::string(trim(*pid)) + "/stat");
    return !stat.ok() || stat->find(") Z ") != std::string::npos;
  };
  int left = 300;
  while (!gone() && --left > 0) usleep(10'000);
  EXPECT_GT(left, 0) << "the command still runs";
}

TEST_F(SshTransportTest, DeadlineHoldsOnAHalfDeadLink) {
  auto parent = sh("echo $PPID");
  ASSERT_TRUE(parent.ok());
  // The shell's parent is the login shell's parent: sshd's process for this session, which holds the socket.
  pid_t session = static_cast<pid_t>(*parse_int(trim(parent->output)));
  ASSERT_EQ(0, kill(session, SIGSTOP));
  RunOptions options;
  options.input = source_of(pattern_bytes(30 << 20));  // more than every buffer on the way
  Nanos started = system_clock().now();
  options.deadline = Deadline::in(system_clock(), std::chrono::milliseconds(700));
  auto result = sh("cat >/dev/null", options);
  auto took = system_clock().now() - started;
  kill(session, SIGCONT);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(std::string::npos, result.error().message.find("its deadline")) << result.error().message;
  EXPECT_GE(took, std::chrono::milliseconds(700));
  EXPECT_LT(took, std::chrono::seconds(20));
}

TEST_F(SshTransportTest, InterruptFromAnotherThread) {
  std::thread other([&] {
    usleep(300'000);
    transport_->interrupt();
  });
  auto result = sh("sleep 1000");
  other.join();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kInterrupted, result.error().kind);
  EXPECT_EQ(ErrorKind::kInterrupted, sh("true").error().kind);
}

TEST_F(SshTransportTest, ASessionThatDiesIsAnErrorAndNeverASuccess) {
  auto result = sh("kill -KILL $PPID; sleep 5; exit 0");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, result.error().kind);
  EXPECT_NE(std::string::npos, result.error().message.find("broke")) << result.error().message;
}

TEST_F(SshTransportTest, ADetachedChildDoesNotHoldTheChannel) {
  auto result = sh("nohup setsid sleep 3 </dev/null >/dev/null 2>&1 & echo started");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ("started\n", result->output);
}

TEST_F(SshTransportTest, AMissingCommandIs127) {
  auto result = transport_->run({"/no/such/program"}, {.deadline = in_seconds(20)});
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(127, result->exit_code);
}

TEST_F(SshTransportTest, WhatStartUpFilesPrintIsNotOutput) {
  std::string folder = sshd_->folder() + "-home";
  ASSERT_EQ(0, mkdir(folder.c_str(), 0700));
  ASSERT_TRUE(write_atomic(folder + "/.bashrc", "echo Welcome to this machine; echo oops >&2\n").ok());
  use("ForceCommand HOME=" + folder + " SHLVL=0 exec bash -c \"$SSH_ORIGINAL_COMMAND\"\n");
  auto result = sh("echo clean; exit 6");
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ("clean\n", result->output);
  EXPECT_EQ("oops\n", result->errors);  // the text did come
  EXPECT_EQ(6, result->exit_code);
  EXPECT_TRUE(remove_tree(folder).ok());
}

TEST_F(SshTransportTest, ALoginShellThatNeverStartsTheCommandIsAnError) {
  use("ForceCommand echo This account is closed\n");
  auto result = sh("true");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(std::string::npos, result.error().message.find("This account is closed")) << result.error().message;
  use("ForceCommand exec cat /dev/zero\n");
  result = sh("true");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(std::string::npos, result.error().message.find("without end")) << result.error().message;
}

// csh reads `!` and line feeds inside single quotes, fish backslashes: words must survive them all.
TEST_F(SshTransportTest, LoginShellsThatAreNotSh) {
  int tried = 0;
  for (std::string shell : {"tcsh", "fish", "zsh", "busybox sh", "dash", "bash"}) {
    std::string path = "/bin/" + shell.substr(0, shell.find(' '));
    if (!exists(path) && !exists("/usr" + path)) continue;
    ++tried;
    use("ForceCommand exec " + shell + " -c \"$SSH_ORIGINAL_COMMAND\"\n");
    auto result =
        transport_->run({"printf", "%s|", "a!b!!", "c\nd", "\\\\x\\'", "'", "$HOME"}, {.deadline = in_seconds(20)});
    ASSERT_TRUE(result.ok()) << shell << ": " << result.error().message;
    EXPECT_EQ("a!b!!|c\nd|\\\\x\\'|'|$HOME|", result->output) << shell;
    EXPECT_EQ("KILL", sh("kill -KILL $$")->signal) << shell;
  }
  EXPECT_GE(tried, 2);
}

}  // namespace
}  // namespace benchctl::testing
