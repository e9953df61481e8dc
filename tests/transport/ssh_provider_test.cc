// Machines that are kept, over a real sshd: in a mount namespace of its own, with users, a lock folder and temporary
// folders that are this test's own.
#include "provisioning/providers/ssh.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/lifecycle.h"
#include "tests/transport/sshd_fixture.h"

namespace benchctl::testing {
namespace {

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

// One operator's benchctl: a home, a provider.
struct Operator {
  Operator(SshConnector& connector, const std::string& name)
      : provider({connector, system_clock(),
                  [&connector](const Endpoint& at, Deadline end) { return connector.host_key_of(at, end); },
                  home.path(), "/nowhere", name + "@desk pid 7", "", std::chrono::seconds(15)}) {}
  TempDir home;
  SshProvider provider;
};

class SshProviderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root for users of its own";
    begin("", "");
  }
  // `mounts` runs in the machine's namespace before its sshd.
  void begin(const std::string& extra, const std::string& mounts) {
    sshd_ = std::make_unique<Sshd>(extra);
    folder_ = sshd_->folder();
    ASSERT_EQ(0, chmod(folder_.c_str(), 0755));
    ASSERT_EQ(0, chmod((folder_ + "/authorized").c_str(), 0644));
    auto passwd = read_file("/etc/passwd");
    ASSERT_TRUE(passwd.ok());
    std::string users = *passwd;
    for (auto [name, uid] : {std::pair("bench", 4242), std::pair("carol", 4243)}) {
      std::string home = folder_ + "/" + name;
      ASSERT_EQ(0, mkdir(home.c_str(), 0755));
      ASSERT_TRUE(write_atomic(home + "/notes.txt", "mine\n").ok());
      ASSERT_EQ(0, chown(home.c_str(), static_cast<uid_t>(uid), static_cast<gid_t>(uid)));
      users += std::string(name) + ":x:" + std::to_string(uid) + ":" + std::to_string(uid) + "::" + home + ":/bin/sh\n";
    }
    ASSERT_TRUE(write_atomic(folder_ + "/passwd", users, 0644).ok());
    sshd_->run_by({"unshare", "-m", "--propagation", "private", "sh", "-c",
                   "D=$1; shift; mount --bind $D/passwd /etc/passwd && mount -t tmpfs -o mode=1777 lock /run/lock && "
                   "mount -t tmpfs -o mode=1777 var /var/tmp && " +
                       (mounts.empty() ? "true" : mounts) + " && exec \"$@\"",
                   "sh", folder_});
    sshd_->start();
  }
  MachineSpec spec(const std::string& user = "bench", const std::string& become = "") const {
    MachineSpec spec;
    spec.provider = "ssh";
    spec.fleet = "kept";
    ConnectRequest request = sshd_->request();
    spec.hosts = {{"127.0.0.1", sshd_->port(), user, folder_ + "/client", request.host_key, become}};
    return spec;
  }
  static Lease lease(const std::string& run) {
    Lease lease;
    lease.nonce = random_hex(6);
    lease.run = run;
    lease.owner = "owner-" + run;
    lease.name = "bc-" + lease.nonce;
    lease.expires_unix = system_clock().unix_ms() / 1000 + 3600;
    return lease;
  }
  // As root on the machine.
  std::string on_machine(const std::string& script) {
    ConnectRequest request = sshd_->request();
    request.endpoint.user = "root";
    auto transport = connect_or_fail(connector_, request);
    if (!transport) return "";
    auto result = transport->run({"sh", "-c", script}, {.deadline = in_seconds(30)});
    EXPECT_TRUE(result.ok());
    return result.ok() ? result->output + result->errors : "";
  }
  // Everything below the users' homes and the shared folders, with owners and modes.
  std::string listing() {
    return on_machine("find " + folder_ + "/bench " + folder_ +
                      "/carol /var/tmp /run/lock /root -maxdepth 2 -printf "
                      "'%p %U %m %s\\n' | grep -v '^/root/\\.cache' | sort");
  }
  // A program of the plain user's, in the background.
  void as_bench(const std::string& command) {
    EXPECT_EQ("", on_machine("setpriv --reuid=4242 --regid=4242 --clear-groups sh -c '" + command +
                             " </dev/null >/dev/null 2>&1 &'"));
  }
  void start_agent(const std::string& work, int seconds) {
    EXPECT_EQ("", on_machine("cp /bin/sleep " + work + "/agent-x && chown 4242 " + work + "/agent-x"));
    as_bench(work + "/agent-x " + std::to_string(seconds));
  }
  void expire_lock() {
    on_machine(
        "cd /run/lock; u=$(stat -c %u benchctl-machine.lock); sed -i 's/^expires=.*/expires=1/' "
        "benchctl-machine.lock; chown $u benchctl-machine.lock");
  }

  SshConnector connector_{system_clock()};
  std::unique_ptr<Sshd> sshd_;
  std::string folder_;
};

TEST_F(SshProviderTest, AUsersMachineIsTakenOnceAndGivenBackAsItWas) {
  const std::string before = listing();
  Operator alice(connector_, "alice");
  ASSERT_TRUE(alice.provider.check(spec()).ok());
  Lease mine = lease("run-a");
  auto machine = acquire(alice.provider, spec(), mine, {}, system_clock(), in_seconds(60));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const std::string work = machine->endpoint->work_dir;
  EXPECT_EQ(folder_ + "/bench/.benchctl-" + mine.name, work);
  EXPECT_EQ("4242 700\n", on_machine("stat -c '%u %a' " + work));
  EXPECT_TRUE(machine->same_kernel);
  EXPECT_TRUE(
      has(on_machine("cat /run/lock/benchctl-machine.lock"), "run=run-a\nowner=owner-run-a\ncontroller=alice@desk"));
  EXPECT_EQ("4242 644\n", on_machine("stat -c '%u %a' /run/lock/benchctl-machine.lock"));
  // The same lease again: the same machine.
  EXPECT_EQ(work, alice.provider.create(spec(), mine, {})->endpoint->work_dir);
  ASSERT_EQ(1u, alice.provider.list("owner-run-a")->size());
  EXPECT_EQ(0u, alice.provider.list("owner-of-another")->size());
  EXPECT_EQ(MachineState::kRunning, *alice.provider.state(*machine));
  auto book = alice.home.path() + "/ssh_machines.json";
  struct stat st {};
  ASSERT_EQ(0, stat(book.c_str(), &st));
  EXPECT_EQ(0600u, st.st_mode & 0777);

  // A program of ours that still runs there ends with it; so does what a trial left behind.
  start_agent(work, 1000);
  as_bench("BENCHCTL_SCRATCH=" + work + "/scratch/1 sleep 1001");
  EXPECT_EQ("2\n", on_machine("pgrep -c -u 4242 -f '(agent-x|sleep) 100[01]'"));
  ASSERT_TRUE(release(alice.provider, *machine, system_clock(), in_seconds(60)).ok());
  EXPECT_EQ("0\n", on_machine("pgrep -c -u 4242 -f '(agent-x|sleep) 100[01]'"));
  EXPECT_EQ(before, listing());
  EXPECT_EQ(MachineState::kGone, *alice.provider.state(*machine));
  EXPECT_EQ(0u, alice.provider.list("")->size());
  EXPECT_TRUE(alice.provider.destroy(*machine).ok());
}

TEST_F(SshProviderTest, ASecondRunIsRefusedAndToldWhoHoldsTheMachine) {
  Operator alice(connector_, "alice"), bob(connector_, "bob");
  Lease first = lease("run-a"), second = lease("run-b");
  auto held = alice.provider.create(spec(), first, {});
  ASSERT_TRUE(held.ok()) << held.error().message;
  const std::string before = listing();
  for (const char* user : {"carol", "bench", "root"}) {
    SCOPED_TRACE(user);
    auto refused = bob.provider.create(spec(user), second, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(ErrorKind::kInterrupted, refused.error().kind);
    EXPECT_TRUE(has(refused.error().message, "run run-a of alice@desk pid 7 (as user bench there)"))
        << refused.error().message;
    EXPECT_EQ(0u, bob.provider.list("")->size());
  }
  EXPECT_EQ(before, listing()) << "a refused run left something";
  // What another holds is not given back by a lease that never got it.
  Machine never{"ssh", "", second.name, second.nonce, second.run, second.owner};
  EXPECT_TRUE(bob.provider.destroy(never).ok());
  EXPECT_EQ(before, listing());
  ASSERT_TRUE(alice.provider.destroy(*held).ok());
  auto now = bob.provider.create(spec("carol"), second, {});
  ASSERT_TRUE(now.ok()) << now.error().message;
  EXPECT_TRUE(bob.provider.destroy(*now).ok());
}

TEST_F(SshProviderTest, AnExpiredLockIsTakenOverUnlessItsProcessesStillRun) {
  Operator alice(connector_, "alice"), bob(connector_, "bob");
  Lease first = lease("run-a"), second = lease("run-b"), third = lease("run-c");
  auto old = alice.provider.create(spec(), first, {});
  ASSERT_TRUE(old.ok()) << old.error().message;
  expire_lock();
  // Another user may not remove it from a sticky folder, and is told so.
  auto foreign = bob.provider.create(spec("carol"), second, {});
  ASSERT_FALSE(foreign.ok());
  EXPECT_TRUE(has(foreign.error().message, "only that user or root")) << foreign.error().message;
  const std::string work = old->endpoint->work_dir;
  start_agent(work, 1002);
  auto busy = bob.provider.create(spec(), second, {});
  ASSERT_FALSE(busy.ok());
  EXPECT_EQ(ErrorKind::kInterrupted, busy.error().kind);
  EXPECT_TRUE(has(busy.error().message, "its processes still run there")) << busy.error().message;
  on_machine("pkill -f '" + work + "/agent-[x]'");
  auto taken = bob.provider.create(spec(), second, {});
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  // The one that lost it removes its folder, and not the new lock.
  ASSERT_TRUE(alice.provider.destroy(*old).ok());
  EXPECT_FALSE(exists(work));
  EXPECT_TRUE(has(on_machine("cat /run/lock/benchctl-machine.lock"), "run=run-b"));
  auto refused = alice.provider.create(spec(), third, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(has(refused.error().message, "run run-b"));
  EXPECT_TRUE(bob.provider.destroy(*taken).ok());
}

TEST_F(SshProviderTest, ManyAtOnceGetOneLock) {
  constexpr int kRuns = 8;
  std::vector<std::unique_ptr<Operator>> operators;
  for (int i = 0; i < kRuns; ++i) operators.push_back(std::make_unique<Operator>(connector_, "o" + std::to_string(i)));
  std::vector<std::optional<Machine>> got(kRuns);
  std::vector<std::thread> threads;
  for (int i = 0; i < kRuns; ++i)
    threads.emplace_back([&, i] {
      auto machine = operators[static_cast<size_t>(i)]->provider.create(spec(i % 2 == 0 ? "bench" : "carol"),
                                                                        lease("run-" + std::to_string(i)), {});
      if (machine) {
        got[static_cast<size_t>(i)] = *machine;
      } else {
        EXPECT_EQ(ErrorKind::kInterrupted, machine.error().kind) << machine.error().message;
      }
    });
  for (auto& thread : threads) thread.join();
  int winners = 0;
  for (int i = 0; i < kRuns; ++i)
    if (got[static_cast<size_t>(i)]) {
      ++winners;
      EXPECT_TRUE(operators[static_cast<size_t>(i)]->provider.destroy(*got[static_cast<size_t>(i)]).ok());
    }
  EXPECT_EQ(1, winners);
}

TEST_F(SshProviderTest, PlantedFilesAreNeitherFollowedNorRemoved) {
  Operator alice(connector_, "alice");
  on_machine("ln -s /etc/passwd /run/lock/benchctl-machine.lock");
  auto refused = alice.provider.create(spec(), lease("run-a"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ErrorKind::kRejected, refused.error().kind);
  EXPECT_TRUE(has(refused.error().message, "something else stands in the place of the lock"))
      << refused.error().message;
  on_machine("rm /run/lock/benchctl-machine.lock; mkfifo -m 666 /run/lock/benchctl-machine.lock");
  EXPECT_FALSE(alice.provider.create(spec(), lease("run-b"), {}).ok());
  on_machine(
      "rm /run/lock/benchctl-machine.lock; printf 'machine=x\\nrun=\\033[2Jevil\\nexpires=99999999999\\n' "
      ">/run/lock/benchctl-machine.lock");
  refused = alice.provider.create(spec(), lease("run-c"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(has(refused.error().message, "run \\x1b[2Jevil")) << refused.error().message;
}

TEST_F(SshProviderTest, RootWorksOutsideOfHomes) {
  Operator alice(connector_, "alice");
  const std::string before = listing();
  auto machine = alice.provider.create(spec("root"), lease("run-a"), {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_TRUE(machine->endpoint->work_dir.starts_with("/var/tmp/benchctl-bc-")) << machine->endpoint->work_dir;
  ASSERT_TRUE(alice.provider.destroy(*machine).ok());
  EXPECT_EQ(before, listing());
}

TEST_F(SshProviderTest, RootThroughSudoLeavesNothingInTheUsersHome) {
  // The real sudo is not part of a test's computer: a setuid setpriv behind a script that takes what we may send.
  sshd_.reset();
  TempDir bin;
  ASSERT_EQ(0, chmod(bin.path().c_str(), 0755));
  ASSERT_EQ(0, system(("cp /usr/bin/setpriv " + bin.path() + "/setpriv && chown 0:4242 " + bin.path() +
                       "/setpriv && chmod 4750 " + bin.path() + "/setpriv")
                          .c_str()));
  ASSERT_TRUE(write_atomic(bin.path() + "/sudo",
                           "#!/bin/sh\n[ \"$1 $2\" = '-n --' ] || exit 64\nshift 2\nexec " + bin.path() +
                               "/setpriv --reuid=0 --regid=0 --clear-groups env SUDO_UID=$(id -u) \"$@\"\n",
                           0755)
                  .ok());
  ASSERT_NO_FATAL_FAILURE(
      begin("ForceCommand PATH=" + bin.path() + ":$PATH exec sh -c \"$SSH_ORIGINAL_COMMAND\"\n", ""));
  Operator alice(connector_, "alice");
  const std::string before = listing();
  auto machine = alice.provider.create(spec("bench", "sudo"), lease("run-a"), {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_TRUE(machine->endpoint->work_dir.starts_with("/var/tmp/benchctl-bc-")) << machine->endpoint->work_dir;
  EXPECT_EQ("0 700\n", on_machine("stat -c '%u %a' " + machine->endpoint->work_dir));
  EXPECT_EQ("", on_machine("find " + folder_ + "/bench -mindepth 1 -user root ! -name notes.txt"));
  ASSERT_TRUE(alice.provider.destroy(*machine).ok());
  EXPECT_EQ(before, listing());
  // Without the right to become root nothing is begun.
  ASSERT_TRUE(
      write_atomic(bin.path() + "/sudo", "#!/bin/sh\necho 'sudo: a password is required' >&2; exit 1\n", 0755).ok());
  auto refused = acquire(alice.provider, spec("bench", "sudo"), lease("run-b"), {}, system_clock(), in_seconds(300));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, refused.error().kind);
  EXPECT_TRUE(has(refused.error().message, "NOPASSWD")) << refused.error().message;
  EXPECT_EQ(before, listing());
}

TEST_F(SshProviderTest, AFolderThatCannotExecuteIsPassedOver) {
  sshd_.reset();
  ASSERT_NO_FATAL_FAILURE(begin("", "mount -t tmpfs -o noexec,mode=1777 home $D/bench"));
  Operator alice(connector_, "alice");
  auto machine = alice.provider.create(spec(), lease("run-a"), {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_TRUE(machine->endpoint->work_dir.starts_with("/var/tmp/benchctl-bc-")) << machine->endpoint->work_dir;
  ASSERT_TRUE(alice.provider.destroy(*machine).ok());
  sshd_.reset();
  // A small /tmp, in which this test's own folder stays.
  ASSERT_NO_FATAL_FAILURE(
      begin("",
            "mkdir /var/tmp/keep && mount --bind $D /var/tmp/keep && mount -t tmpfs -o size=100m,mode=1777 tmp /tmp "
            "&& mkdir $D && mount --bind /var/tmp/keep $D && mount -t tmpfs -o noexec,mode=1777 home $D/bench && "
            "mount -t tmpfs -o noexec,mode=1777 var /var/tmp"));
  const std::string before = on_machine("find /var/tmp /run/lock | sort");
  auto refused = alice.provider.create(spec(), lease("run-b"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ErrorKind::kRejected, refused.error().kind) << refused.error().message;
  EXPECT_TRUE(has(refused.error().message, "/var/tmp: programs cannot be executed there")) << refused.error().message;
  EXPECT_TRUE(has(refused.error().message, "KiB free")) << refused.error().message;
  EXPECT_EQ(before, on_machine("find /var/tmp /run/lock | sort"));
}

TEST_F(SshProviderTest, AFirstKeyIsSaidAndRecordedAndNoOtherIsTakenLater) {
  Operator alice(connector_, "alice");
  MachineSpec first = spec();
  const std::string key = first.hosts[0].host_key;
  first.hosts[0].host_key = kAcceptFirst;
  std::vector<std::string> said;
  auto say = [&](const std::string& line) { said.push_back(line); };
  ASSERT_TRUE(alice.provider.prepare(first, say).ok());
  ASSERT_EQ(1u, said.size());
  EXPECT_TRUE(has(said[0], key)) << said[0];
  ASSERT_TRUE(alice.provider.prepare(first, say).ok());
  EXPECT_EQ(1u, said.size()) << "said again";
  const std::string file = alice.home.path() + "/known_hosts.json";
  struct stat st {};
  ASSERT_EQ(0, stat(file.c_str(), &st));
  EXPECT_EQ(0600u, st.st_mode & 0777);
  auto machine = alice.provider.create(first, lease("run-a"), {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_EQ(key, machine->endpoint->host_key);
  ASSERT_TRUE(alice.provider.destroy(*machine).ok());

  TempDir keys;
  KeyPair other = make_key_pair(keys.path(), "other");
  sshd_->stop();
  ASSERT_TRUE(write_atomic(sshd_->host_key_path(), other.identity.private_key, 0600).ok());
  sshd_->start();
  ASSERT_TRUE(alice.provider.prepare(first, say).ok());
  auto refused = alice.provider.create(first, lease("run-b"), {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ErrorKind::kProvisioning, refused.error().kind);
  for (const std::string& words : {key, other.pin, std::string("trusted on first use on"), file})
    EXPECT_TRUE(has(refused.error().message, words)) << words << ": " << refused.error().message;
  EXPECT_EQ(0u, alice.provider.list("")->size());
}

// The machine did what we asked, and its answer was lost.
TEST_F(SshProviderTest, ACreateWhoseAnswerWasLostIsFoundAgain) {
  struct LosingConnector final : Connector {
    explicit LosingConnector(Connector& real) : real_(real) {}
    struct Losing final : Transport {
      explicit Losing(std::unique_ptr<Transport> real) : real_(std::move(real)) {}
      Result<CommandResult> run(const std::vector<std::string>& argv, const RunOptions& options) override {
        auto result = real_->run(argv, options);
        return Error{ErrorKind::kProvisioning, "x: the connection broke"};
      }
      TransportCounts counts() const override { return real_->counts(); }
      void interrupt() override {}
      std::unique_ptr<Transport> real_;
    };
    Result<std::unique_ptr<Transport>> connect(const ConnectRequest& request) override {
      BENCHCTL_TRY(auto transport, real_.connect(request));
      if (connects++ > 0) return transport;
      return std::unique_ptr<Transport>(std::make_unique<Losing>(std::move(transport)));
    }
    Connector& real_;
    int connects = 0;
  } losing(connector_);
  TempDir home;
  SshProvider provider({losing, system_clock(), {}, home.path(), "/nowhere", "alice@desk", ""});
  const std::string before = listing();
  auto machine = acquire(provider, spec(), lease("run-a"), {}, system_clock(), in_seconds(60));
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  EXPECT_TRUE(exists(machine->endpoint->work_dir)) << machine->endpoint->work_dir;
  ASSERT_TRUE(release(provider, *machine, system_clock(), in_seconds(60)).ok());
  EXPECT_EQ(before, listing());
}

TEST_F(SshProviderTest, WhatCannotBeReachedIsNotGivenUpSilently) {
  Operator alice(connector_, "alice");
  auto machine = alice.provider.create(spec(), lease("run-a"), {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  sshd_->stop();
  SshWorld hurried{connector_, system_clock(), {}, alice.home.path(),
                   "/nowhere", "alice@desk",   "", std::chrono::seconds(1)};
  SshProvider provider(hurried);
  EXPECT_FALSE(provider.destroy(*machine).ok());
  EXPECT_FALSE(provider.state(*machine).ok()) << "gone is only what was seen to be gone";
  EXPECT_EQ(1u, provider.list("")->size());
  sshd_->start();
}

}  // namespace
}  // namespace benchctl::testing
