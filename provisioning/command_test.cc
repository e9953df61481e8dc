#include "provisioning/command.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

class Command : public testing::Test {
 protected:
  CommandSpec sh(const std::string& script, int seconds = 20) {
    CommandSpec spec;
    spec.argv = {"sh", "-c", script};
    spec.deadline = Deadline::in(clock_, std::chrono::seconds(seconds));
    return spec;
  }
  // The kernel takes it down, and its new parent reaps it, in their own time: gone, or a zombie.
  bool dies(int64_t pid) {
    auto dead = [&] {
      auto stat = read_pseudo_file("/proc/" + std::to_string(pid) + "/stat");
      return !stat.ok() || stat->find(") Z ") != std::string::npos;
    };
    for (int turn = 0; turn < 500 && !dead(); ++turn) clock_.sleep(std::chrono::milliseconds(10));
    return dead();
  }
  static size_t open_fds() { return list_dir("/proc/self/fd").value().size(); }
  // As process 1 of a container we are also given the orphans of others.
  static bool has_children() { return getpid() != 1 && waitpid(-1, nullptr, WNOHANG) != -1; }

  SystemClock clock_;
};

TEST_F(Command, ExitCodeOutputAndErrorsAreToldApart) {
  auto result = run_command(sh("echo out; echo err >&2; exit 9"), clock_);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_EQ(result->exit_code, 9);
  EXPECT_EQ(result->signal, "");
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->errors, "err\n");
}

TEST_F(Command, SignalIsNotAnExitCode) {
  auto result = run_command(sh("kill -9 $$"), clock_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->signal, "KILL");
  EXPECT_FALSE(result->ok());
}

TEST_F(Command, MissingProgramIsNamed) {
  CommandSpec spec = sh("");
  spec.argv = {"no-such-program-here"};
  auto result = run_command(spec, clock_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("no-such-program-here"), std::string::npos);
  spec.argv = {"no\x1b[31m"};  // of a declaration that somebody wrote
  EXPECT_EQ(run_command(spec, clock_).error().message.find('\x1b'), std::string::npos);
}

TEST_F(Command, FailedStartsLeaveNoZombieAndNoDescriptor) {
  std::string folder = "/tmp/benchctl-command-" + random_hex(6);
  ASSERT_TRUE(make_dirs(folder).ok());
  ASSERT_TRUE(write_atomic(folder + "/text", "no program", 0700).ok());
  size_t before = open_fds();
  for (int turn = 0; turn < 20; ++turn) {
    CommandSpec spec = sh("");
    spec.argv = {folder + "/text"};
    auto result = run_command(spec, clock_);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("Exec format error"), std::string::npos) << result.error().message;
    spec = sh("true");
    spec.cwd = folder + "/absent";
    EXPECT_FALSE(run_command(spec, clock_).ok());
  }
  EXPECT_EQ(open_fds(), before);
  EXPECT_FALSE(has_children());
  ASSERT_TRUE(remove_tree(folder).ok());
}

TEST_F(Command, WholeGroupIsKilledAtTheDeadline) {
  CommandSpec spec = sh("trap '' TERM; sleep 1000 & echo $!; wait");
  std::string seen;
  spec.on_output = [&](std::string_view bytes) { seen += bytes; };
  spec.deadline = Deadline::in(clock_, std::chrono::milliseconds(700));
  auto result = run_command(spec, clock_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("deadline"), std::string::npos);
  auto grandchild = parse_int(trim(seen));
  ASSERT_TRUE(grandchild.has_value()) << seen;
  EXPECT_TRUE(dies(*grandchild));
  EXPECT_FALSE(has_children());
}

TEST_F(Command, WholeGroupDiesWithUsHoweverWeEnd) {
  const std::string file = "/tmp/benchctl-command-" + random_hex(6);
  pid_t us = fork();
  ASSERT_GE(us, 0);
  if (us == 0) {
    CommandSpec spec = sh("sleep 1000 & echo $! >" + file + ".new; mv " + file + ".new " + file + "; wait", 600);
    spec.whole_group = true;
    (void)run_command(spec, clock_);
    _exit(0);
  }
  for (int turn = 0; turn < 1000 && !exists(file); ++turn) clock_.sleep(std::chrono::milliseconds(10));
  auto written = read_file(file);
  ASSERT_TRUE(written.ok());
  auto grandchild = parse_int(trim(*written));
  ASSERT_TRUE(grandchild.has_value());
  ASSERT_EQ(kill(us, SIGKILL), 0);
  ASSERT_EQ(waitpid(us, nullptr, 0), us);
  EXPECT_TRUE(dies(*grandchild));
  unlink(file.c_str());
}

TEST_F(Command, WholeGroupLeavesNothingBehindWhenTheCommandEnds) {
  const size_t before = open_fds();
  CommandSpec spec = sh("sleep 1000 >/dev/null 2>&1 & echo $!");
  spec.whole_group = true;
  auto result = run_command(spec, clock_);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_TRUE(result->ok());
  auto grandchild = parse_int(trim(result->output));
  ASSERT_TRUE(grandchild.has_value());
  EXPECT_TRUE(dies(*grandchild));
  EXPECT_EQ(open_fds(), before);
  spec.argv = {"/etc/passwd"};
  EXPECT_FALSE(run_command(spec, clock_).ok());
  EXPECT_EQ(open_fds(), before);
}

TEST_F(Command, StopEndsIt) {
  CommandSpec spec = sh("sleep 1000 & wait", 600);
  spec.stop = [] { return true; };
  auto result = run_command(spec, clock_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kInterrupted);
  EXPECT_FALSE(has_children());
}

TEST_F(Command, BackgroundChildThatHoldsThePipesDoesNotHoldUs) {
  auto result = run_command(sh("sleep 15 & echo $!"), clock_);
  ASSERT_TRUE(result.ok()) << result.error().message;
  auto pid = parse_int(trim(result->output));
  ASSERT_TRUE(pid.has_value());
  // Still there, and no zombie: so we did not wait for it.
  auto stat = read_pseudo_file("/proc/" + std::to_string(*pid) + "/stat");
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->find(") Z "), std::string::npos) << *stat;
  EXPECT_EQ(kill(static_cast<pid_t>(*pid), SIGKILL), 0);
}

TEST_F(Command, NothingIsInheritedButTheThreeStreams) {
  UniqueFd leaky(dup(0));
  auto result = run_command(sh("ls /proc/self/fd | wc -l"), clock_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(trim(result->output), "4");  // and ls's own of the folder
}

TEST_F(Command, EnvironmentHoldsNoSecretOfOurs) {
  setenv("SOME_API_TOKEN", "secret", 1);
  auto result = run_command(sh("env"), clock_);
  unsetenv("SOME_API_TOKEN");
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output.find("secret"), std::string::npos);
  EXPECT_NE(result->output.find("LANG=C.UTF-8"), std::string::npos);
}

TEST_F(Command, InputOfSomeMegabytesComesThroughAndMayBeIgnored) {
  CommandSpec spec = sh("wc -c");
  spec.input.assign(3 << 20, 'x');
  auto result = run_command(spec, clock_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(trim(result->output), "3145728");
  spec.argv = {"true"};
  EXPECT_TRUE(run_command(spec, clock_).value().ok());
}

TEST_F(Command, TooMuchOutputEndsTheCommand) {
  CommandSpec spec = sh("yes");
  spec.output_cap = 1 << 20;
  auto result = run_command(spec, clock_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("more than"), std::string::npos) << result.error().message;
  EXPECT_FALSE(has_children());
}

TEST_F(Command, MegabytesOnBothStreamsTogether) {
  auto result = run_command(sh("head -c 2000000 /dev/zero & head -c 2000000 /dev/zero >&2; wait"), clock_);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->output.size(), 2000000U);
  EXPECT_EQ(result->errors.size(), 256U << 10);
}

TEST_F(Command, ManyThreadsAtOnce) {
  size_t before = open_fds();
  std::vector<std::thread> threads;
  std::array<int, 8> good{};
  for (size_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 10; ++turn) {
        auto result = run_command(sh("echo " + std::to_string(i) + "; exit " + std::to_string(i)), clock_);
        if (result.ok() && result->exit_code == static_cast<int>(i) && result->output == std::to_string(i) + "\n")
          ++good[i];
      }
    });
  for (auto& thread : threads) thread.join();
  for (int count : good) EXPECT_EQ(count, 10);
  EXPECT_EQ(open_fds(), before);
  EXPECT_FALSE(has_children());
}

TEST_F(Command, CheckedErrorQuotesCommandAndLastLine) {
  auto result = run_checked(sh("echo first >&2; echo 'the reason' >&2; exit 3"), clock_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("exit code 3: the reason"), std::string::npos) << result.error().message;
  EXPECT_EQ(result.error().message.find("first\n"), std::string::npos);
}

TEST_F(Command, WithoutADeadlineNothingRuns) {
  CommandSpec spec;
  spec.argv = {"true"};
  EXPECT_FALSE(run_command(spec, clock_).ok());
}

}  // namespace
}  // namespace benchctl
