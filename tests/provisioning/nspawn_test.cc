// Real machines by systemd-nspawn. Needs root; the base image is made when absent (minutes).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/cloud_init/rotate_host_key.h"
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/cloud_init/user_data.h"
#include "provisioning/command.h"
#include "provisioning/lifecycle.h"
#include "provisioning/providers/cgroups.h"
#include "provisioning/providers/nspawn.h"
#include "provisioning/providers/nspawn_image.h"

namespace benchctl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<std::string> names_in(const std::string& folder) {
  auto names = list_dir(folder);
  return names ? *names : std::vector<std::string>();
}

// What of this computer a machine could leave behind. Others work on this computer too: only what bears our mark, or
// could not be told from it, is looked at.
std::string traces(const std::string& owner, const std::string& state_dir) {
  std::string all;
  auto add = [&](const std::string& kind, const std::string& text, const std::string& needle) {
    for (std::string_view line : split(text, '\n')) {
      if (line.empty() || line.find(needle) == std::string::npos) continue;
      all += kind + " " + std::string(line) + "\n";
    }
  };
  auto cgroups = Cgroups::of_this_computer();
  for (const auto& tag : cgroups->tags()) {
    add("cgroup", tag, owner);
    if (tag.find(owner) != std::string::npos)
      for (int pid : cgroups->pids(tag)) all += "process " + std::to_string(pid) + "\n";
  }
  for (const auto& name : names_in("/proc")) {
    auto environment = read_pseudo_file("/proc/" + name + "/environ");
    if (parse_int(name) && environment && environment->find(owner) != std::string::npos)
      all += "process " + name + "\n";
  }
  std::string mounts = read_pseudo_file("/proc/self/mountinfo").value();
  for (const char* mark : {"/bc-", "nspawn", "benchctl"}) add("mount", mounts, mark);
  for (const auto& name : names_in("/sys/class/net"))
    for (const char* mark : {"bc", "vb-", "ve-"})
      if (name.rfind(mark, 0) == 0) all += "link " + name + "\n";
  for (const char* folder : {"/run/systemd/nspawn", "/run/systemd/nspawn/locks", "/run/systemd/nspawn/propagate"})
    for (const auto& name : names_in(folder)) all += "file " + std::string(folder) + "/" + name + "\n";
  for (const auto& name : names_in("/sys/block"))
    if (auto file = read_pseudo_file("/sys/block/" + name + "/loop/backing_file")) add("loop " + name, *file, owner);
  for (const auto& name : names_in(state_dir)) all += "file " + state_dir + "/" + name + "\n";
  return all;
}

class Nspawn : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    if (const char* image = std::getenv("BENCHCTL_TEST_IMAGE")) spec_.image = image;
    owner_ = "test-" + random_hex(8);
    dirs_.state = "/var/tmp/benchctl-test-" + random_hex(6);
    ASSERT_TRUE(make_dirs(dirs_.state).ok());
    auto checked = provider().check(spec_);
    ASSERT_TRUE(checked.ok()) << checked.error().message;
    auto ready = provider().prepare(spec_, [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); });
    ASSERT_TRUE(ready.ok()) << ready.error().message;
    before_ = traces(owner_, dirs_.state);
  }
  void TearDown() override {
    if (geteuid() != 0) return;
    auto left = provider().list(owner_);
    ASSERT_TRUE(left.ok());
    for (const auto& machine : *left) EXPECT_TRUE(provider().destroy(machine).ok());
    EXPECT_EQ(traces(owner_, dirs_.state), before_);
    EXPECT_TRUE(remove_tree(dirs_.state).ok());
  }

  NspawnProvider provider() { return {dirs_, clock_, no_failpoints_}; }
  NspawnProvider provider(Failpoints& failpoints) { return {dirs_, clock_, failpoints}; }
  Lease lease(int slot) {
    Lease made;
    made.nonce = random_hex(6);
    made.run = "run-" + std::to_string(slot);
    made.owner = owner_;
    made.slot = slot;
    made.name = "bc-" + made.nonce;
    made.expires_unix = clock_.unix_ms() / 1000 + 3600;
    return made;
  }

  struct Keys {
    SshIdentity host, client;
    Bootstrap bootstrap;
  };
  Keys keys() {
    Keys made{make_ssh_identity("benchctl", clock_).value(), make_ssh_identity("benchctl", clock_).value(), {}};
    made.bootstrap = make_bootstrap(made.host, made.client.public_key);
    return made;
  }

  // One ssh command with the pinned host key; retried while the machine boots.
  Result<CommandResult> ssh(const Machine& machine, const Keys& with, const std::string& command, int tries = 300) {
    const std::string files = dirs_.state + "/" + machine.nonce;
    BENCHCTL_CHECK(write_atomic(files + ".key", with.client.private_key));
    BENCHCTL_CHECK(write_atomic(files + ".hosts", machine.endpoint->host + " " + with.host.public_key + "\n"));
    CommandSpec spec;
    spec.argv = {"nsenter",
                 "--net=" + machine.endpoint->netns,
                 "ssh",
                 "-F",
                 "none",
                 "-i",
                 files + ".key",
                 "-o",
                 "BatchMode=yes",
                 "-o",
                 "UserKnownHostsFile=" + files + ".hosts",
                 "-o",
                 "StrictHostKeyChecking=yes",
                 "-o",
                 "ConnectTimeout=5",
                 "root@" + machine.endpoint->host,
                 command};
    Result<CommandResult> result = Error{ErrorKind::kInternal, "never tried"};
    for (int turn = 0; turn < tries; ++turn) {
      spec.deadline = Deadline::in(clock_, seconds(60));
      result = run_command(spec, clock_);
      if (!result || result->exit_code != 255) break;
      clock_.sleep(milliseconds(100));
    }
    unlink((files + ".key").c_str());
    unlink((files + ".hosts").c_str());
    return result;
  }

  SystemClock clock_;
  MachineSpec spec_;
  NspawnDirs dirs_;
  NoFailpoints no_failpoints_;
  std::string owner_, before_;
};

// The ssh program as a Transport, through the machine's network namespace.
class SshProgram final : public Transport {
 public:
  explicit SshProgram(std::function<Result<CommandResult>(const std::string&)> run) : run_(std::move(run)) {}
  Result<CommandResult> run(const std::vector<std::string>& argv, const RunOptions&) override {
    return run_(shell_quote(argv));
  }
  TransportCounts counts() const override { return {}; }
  void interrupt() override {}

 private:
  std::function<Result<CommandResult>(const std::string&)> run_;
};

TEST_F(Nspawn, TwoMachinesFromBirthToNothing) {
  std::vector<Machine> machines;
  std::vector<Keys> with{keys(), keys()};
  Nanos start = clock_.now();
  auto said = [&](const char* what) {
    std::fprintf(stderr, "%6.2f s %s\n", std::chrono::duration<double>(clock_.now() - start).count(), what);
  };
  spec_.options = {{"cpus", "0"}, {"memory", "512MiB"}, {"disk", "256MiB"}};
  for (size_t slot = 0; slot < 2; ++slot) {
    auto place = provider();
    auto machine = acquire(place, spec_, lease(static_cast<int>(slot)), with[slot].bootstrap, clock_,
                           Deadline::in(clock_, seconds(120)));
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    machines.push_back(*machine);
    said("created");
  }
  EXPECT_EQ(provider().list(owner_)->size(), 2U);
  EXPECT_EQ(provider().list("somebody-else")->size(), 0U);
  for (size_t i = 0; i < 2; ++i) {
    auto up = ssh(machines[i], with[i], "hostname");
    ASSERT_TRUE(up.ok()) << up.error().message;
    ASSERT_EQ(trim(up->output), machines[i].name) << up->errors << provider().console(machines[i]);
    said("ssh");
  }
  const Machine& machine = machines[0];
  SshProgram transport([&](const std::string& command) { return ssh(machine, with[0], command, 1); });
  auto pin = rotate_host_key(transport, clock_, Deadline::in(clock_, seconds(60)));
  ASSERT_TRUE(pin.ok()) << pin.error().message;
  said("host key renewed");
  EXPECT_NE(*pin, ssh_fingerprint(with[0].host.public_key).value());
  auto refused = ssh(machine, with[0], "true", 1);
  ASSERT_TRUE(refused.ok());
  EXPECT_EQ(refused->exit_code, 255);
  EXPECT_NE(refused->errors.find("Host key verification failed"), std::string::npos) << refused->errors;
  // From here on with the new key.
  CommandSpec scan;
  scan.argv = {"nsenter", "--net=" + machine.endpoint->netns, "ssh-keyscan", "-t", "ed25519", machine.endpoint->host};
  scan.deadline = Deadline::in(clock_, seconds(30));
  auto shown = run_checked(scan, clock_);
  ASSERT_TRUE(shown.ok()) << shown.error().message;
  Keys renewed = with[0];
  renewed.host.public_key = trim(shown->substr(shown->find(' ') + 1));
  EXPECT_EQ(ssh_fingerprint(renewed.host.public_key).value(), *pin);

  auto inside = [&](const std::string& command) { return ssh(machine, renewed, command, 3).value(); };
  auto output = [&](const std::string& command) { return std::string(trim(inside(command).output)); };
  // No copy of user-data is left on the machine (a line of the one-use private key would be its trace).
  std::string secret = std::string(split(with[0].host.private_key, '\n')[2]);
  EXPECT_EQ(output("grep -rlF " + shell_quote(secret) + " /var/lib /run /etc /root 2>/dev/null"), "");
  // The work directory is a real ext4 of the size asked for, and all users of the machine can own files in it.
  EXPECT_EQ(output("findmnt -no FSTYPE /var/lib/benchctl"), "ext4");
  EXPECT_NE(
      output(
          "install -o nobody -m 600 /dev/null /var/lib/benchctl/x && stat -c %U /var/lib/benchctl /var/lib/benchctl/x"),
      "");
  EXPECT_EQ(output("stat -c %U /var/lib/benchctl /var/lib/benchctl/x"), "root\nnobody");
  EXPECT_NE(inside("head -c 400M /dev/zero >/var/lib/benchctl/full").errors.find("No space left"), std::string::npos);
  EXPECT_EQ(output("nproc"), "1");
  // Root inside is nobody outside: it cannot write the host's knobs, not even after mounting proc anew.
  std::string pattern = read_pseudo_file("/proc/sys/kernel/core_pattern").value();
  std::string tries = inside(
                          "echo owned >/proc/sys/kernel/core_pattern; mount -o remount,rw /proc/sys; "
                          "echo owned >/proc/sys/kernel/core_pattern; mkdir /tmp/p; mount -t proc proc /tmp/p; "
                          "echo owned >/tmp/p/sys/kernel/core_pattern; echo 1 >/tmp/p/sys/vm/swappiness; id -u")
                          .output;
  EXPECT_EQ(trim(tries), "0");
  EXPECT_EQ(read_pseudo_file("/proc/sys/kernel/core_pattern").value(), pattern);
  EXPECT_EQ(output("systemd-detect-virt"), "systemd-nspawn");
  said("looked at");
  for (const auto& one : machines) {
    auto place = provider();
    auto gone = release(place, one, clock_, Deadline::in(clock_, seconds(60)));
    ASSERT_TRUE(gone.ok()) << gone.error().message;
    said("released");
  }
  EXPECT_EQ(traces(owner_, dirs_.state), before_);
}

TEST_F(Nspawn, SameLeaseGivesTheSameMachineAndAMachineOutlivesItsMaker) {
  Keys with = keys();
  Lease one = lease(0);
  pid_t maker = fork();
  if (maker == 0) _exit(provider().create(spec_, one, with.bootstrap).ok() ? 0 : 1);
  int status = 0;
  waitpid(maker, &status, 0);
  ASSERT_EQ(status, 0);
  auto cgroups = Cgroups::of_this_computer();
  std::string tag = MachineTag::of(one)->text();
  auto before = cgroups->pids(tag);
  ASSERT_FALSE(before.empty());
  auto again = provider().create(spec_, one, with.bootstrap);
  ASSERT_TRUE(again.ok()) << again.error().message;
  ASSERT_TRUE(again->endpoint.has_value());
  auto after = cgroups->pids(tag);
  EXPECT_TRUE(after.count(*before.begin()) == 1);  // the first process of it is the same
  EXPECT_EQ(provider().list(owner_)->size(), 1U);
  auto up = ssh(*again, with, "hostname");
  ASSERT_TRUE(up.ok());
  EXPECT_EQ(trim(up->output), again->name) << up->errors;
  ASSERT_TRUE(provider().destroy(*again).ok());
  EXPECT_EQ(provider().state(*again).value(), MachineState::kGone);
  ASSERT_TRUE(provider().destroy(*again).ok());
}

// The maker is killed at each step of create(): whatever there is then is found by its name and removed whole.
class NspawnKilled : public Nspawn, public testing::WithParamInterface<const char*> {};

TEST_P(NspawnKilled, LeavesNothingThatListAndDestroyDoNotFind) {
  Keys with = keys();
  Lease one = lease(0);
  pid_t maker = fork();
  if (maker == 0) {
    KillAt at(GetParam());
    (void)provider(at).create(spec_, one, with.bootstrap);
    _exit(0);
  }
  int status = 0;
  waitpid(maker, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the failpoint was not reached";
  auto found = provider().list(owner_);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ((*found)[0].nonce, one.nonce);
  EXPECT_EQ((*found)[0].run, one.run);
  EXPECT_EQ((*found)[0].expires_unix, one.expires_unix);
  auto place = provider();
  auto gone = release(place, (*found)[0], clock_, Deadline::in(clock_, seconds(60)));
  ASSERT_TRUE(gone.ok()) << gone.error().message;
  // A launcher that was still on its way must not bring it back.
  clock_.sleep(milliseconds(500));
  EXPECT_EQ(traces(owner_, dirs_.state), before_);
}

INSTANTIATE_TEST_SUITE_P(AtEachStep, NspawnKilled,
                         testing::Values("nspawn:folder", "nspawn:cgroups", "nspawn:disk", "nspawn:seed",
                                         "nspawn:launched", "nspawn:started"),
                         [](const auto& at) { return std::string(at.param).substr(7); });

TEST_F(Nspawn, CreateTakesUpWhatAKilledMakerLeft) {
  Keys with = keys();
  Lease one = lease(0);
  pid_t maker = fork();
  if (maker == 0) {
    KillAt at("nspawn:seed");
    (void)provider(at).create(spec_, one, with.bootstrap);
    _exit(0);
  }
  waitpid(maker, nullptr, 0);
  auto machine = provider().create(spec_, one, with.bootstrap);
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ(provider().list(owner_)->size(), 1U);
  EXPECT_EQ(provider().state(*machine).value(), MachineState::kRunning);
}

TEST_F(Nspawn, WhatCannotStartIsSaidAndLeavesNothing) {
  Lease one = lease(0);
  spec_.options = {{"root", "64MiB"}};
  dirs_.cache = dirs_.state + "-cache";  // an image that is no system
  auto recipe = nspawn_recipe(spec_.image);
  ASSERT_TRUE(make_dirs(nspawn_image_path(dirs_.cache, *recipe), 0755).ok());
  Keys with = keys();
  auto machine = provider().create(spec_, one, with.bootstrap);
  // systemd-nspawn itself refuses: the machine ends at once, and the console says why.
  if (machine.ok()) {
    for (int turn = 0; turn < 500 && provider().state(*machine).value() != MachineState::kStopped; ++turn)
      clock_.sleep(milliseconds(20));
    EXPECT_EQ(provider().state(*machine).value(), MachineState::kStopped);
    EXPECT_NE(provider().console(*machine), "");
    EXPECT_TRUE(provider().destroy(*machine).ok());
  }
  EXPECT_TRUE(remove_tree(dirs_.cache).ok());
}

}  // namespace
}  // namespace benchctl
