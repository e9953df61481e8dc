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
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/cloud_init/user_data.h"
#include "provisioning/command.h"
#include "provisioning/providers/cgroups.h"
#include "provisioning/providers/nspawn.h"

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
  add("mount", read_pseudo_file("/proc/self/mountinfo").value(), "");
  for (const auto& name : names_in("/sys/class/net")) all += "link " + name + "\n";
  for (const char* folder : {"/run/netns", "/run/systemd/nspawn", "/run/systemd/nspawn/locks", "/run/mount"})
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
    if (left)
      for (const auto& machine : *left) EXPECT_TRUE(provider().destroy(machine).ok());
    EXPECT_EQ(traces(owner_, dirs_.state), before_);
    EXPECT_TRUE(remove_tree(dirs_.state).ok());
  }

  NspawnProvider& provider() { return provider_; }
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
    Keys made{make_ssh_identity("host", clock_).value(), make_ssh_identity("client", clock_).value(), {}};
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
  NoFailpoints no_failpoints_;
  MachineSpec spec_;
  NspawnDirs dirs_;
  std::string owner_, before_;
  NspawnProvider provider_{dirs_, clock_, no_failpoints_};
};

TEST_F(Nspawn, TwoMachinesBootShowThePinnedKeyAndLeaveNothing) {
  std::vector<Machine> machines;
  std::vector<Keys> with{keys(), keys()};
  Nanos start = clock_.now();
  auto said = [&](const char* what) {
    std::fprintf(stderr, "%6.2f s %s\n", std::chrono::duration<double>(clock_.now() - start).count(), what);
  };
  for (int slot = 0; slot < 2; ++slot) {
    auto machine = provider().create(spec_, lease(slot), with[static_cast<size_t>(slot)].bootstrap);
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    machines.push_back(*machine);
    said("created");
  }
  for (size_t i = 0; i < 2; ++i) {
    auto up = ssh(machines[i], with[i], "hostname");
    ASSERT_TRUE(up.ok()) << up.error().message;
    EXPECT_EQ(trim(up->output), machines[i].name) << up->errors << provider().console(machines[i]);
    said("ssh");
    auto marker =
        ssh(machines[i], with[i],
            "for i in $(seq 600); do [ -e " + with[i].bootstrap.marker + " ] && echo there && break; sleep 0.1; done");
    ASSERT_TRUE(marker.ok());
    EXPECT_EQ(marker->output, "there\n");
    said("marker");
  }
  for (const auto& machine : machines) {
    ASSERT_TRUE(provider().destroy(machine).ok());
    said("destroyed");
  }
  EXPECT_EQ(traces(owner_, dirs_.state), before_);
}

}  // namespace
}  // namespace benchctl
