#include "provisioning/providers/local.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

class Local : public testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(remove_tree(base_).ok()); }
  Lease lease() {
    Lease made;
    made.nonce = random_hex(6);
    made.run = "run-1";
    made.owner = "us";
    made.expires_unix = 1;
    return made;
  }
  // A child that becomes `argv`; our own to reap.
  pid_t start(const std::vector<const char*>& argv, const std::string& cwd, const char* variable = nullptr) {
    std::vector<const char*> words = argv;
    words.push_back(nullptr);
    std::vector<const char*> env{variable, nullptr};
    pid_t pid = fork();
    if (pid == 0) {
      setsid();
      if (chdir(cwd.c_str()) == 0)
        execve(words[0], const_cast<char* const*>(words.data()), const_cast<char* const*>(env.data()));
      _exit(127);
    }
    // Until exec has happened the child is a copy of us.
    for (int turn = 0; turn < 500; ++turn) {
      auto line = read_pseudo_file("/proc/" + std::to_string(pid) + "/cmdline");
      if (line && line->find("1000") != std::string::npos) break;
      clock_.sleep(std::chrono::milliseconds(10));
    }
    return pid;
  }
  // The number of the signal that ended it; 0 when it lives.
  int ended_by(pid_t pid) {
    int status = 0;
    return waitpid(pid, &status, WNOHANG) == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

  SystemClock clock_;
  std::string base_ = "/tmp/benchctl-local-" + random_hex(6);
  LocalProvider provider_{base_, clock_};
  MachineSpec spec_;
};

TEST_F(Local, MachineIsAPrivateFolderTheSameForTheSameLease) {
  Lease one = lease();
  auto machine = provider_.create(spec_, one, {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  ASSERT_TRUE(machine->endpoint.has_value());
  EXPECT_EQ(machine->endpoint->kind, Endpoint::Kind::kLocal);
  struct stat st {};
  ASSERT_EQ(stat(machine->endpoint->work_dir.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700U);
  auto again = provider_.create(spec_, one, {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->endpoint->work_dir, machine->endpoint->work_dir);
  EXPECT_EQ(provider_.list("us")->size(), 1U);
  EXPECT_EQ(provider_.list("them")->size(), 0U);
  EXPECT_EQ(provider_.state(*machine).value(), MachineState::kRunning);
  ASSERT_TRUE(provider_.destroy(*machine).ok());
  ASSERT_TRUE(provider_.destroy(*machine).ok());
  EXPECT_EQ(provider_.state(*machine).value(), MachineState::kGone);
  EXPECT_FALSE(exists(again->endpoint->work_dir));
}

TEST_F(Local, DestroyEndsOurProcessesAndNobodyElses) {
  auto machine = provider_.create(spec_, lease(), {});
  ASSERT_TRUE(machine.ok());
  const std::string folder = machine->endpoint->work_dir;
  std::string copy = folder + "/agent";
  ASSERT_EQ(std::system(("cp $(command -v sleep) " + copy).c_str()), 0);
  std::string scratch = "BENCHCTL_SCRATCH=" + folder + "/scratch/t1";
  pid_t agent = start({copy.c_str(), "1000"}, "/");
  pid_t trial = start({"/bin/sh", "-c", "trap '' TERM; while :; do sleep 1000; done"}, "/", scratch.c_str());
  pid_t bystander = start({"/bin/sleep", "1000"}, folder);

  ASSERT_TRUE(provider_.destroy(*machine).ok());
  EXPECT_EQ(ended_by(agent), SIGTERM);
  EXPECT_EQ(ended_by(trial), SIGKILL);
  EXPECT_EQ(ended_by(bystander), 0);
  EXPECT_FALSE(exists(folder));
  kill(bystander, SIGKILL);
  waitpid(bystander, nullptr, 0);
}

TEST_F(Local, OptionsAndOtherArchitecturesAreRefused) {
  spec_.options["cpus"] = "0";
  EXPECT_FALSE(provider_.check(spec_).ok());
  spec_.options.clear();
  EXPECT_TRUE(provider_.check(spec_).ok());
  spec_.arch = "sparc64";
  EXPECT_FALSE(provider_.check(spec_).ok());
}

}  // namespace
}  // namespace benchctl
