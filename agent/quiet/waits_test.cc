#include "agent/quiet/waits.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <functional>

#include "agent/quiet/fake_systemd.h"

namespace benchctl {
namespace {

// Time that does something when it is slept through.
class BusyClock final : public Clock {
 public:
  Nanos now() override { return inner_.now(); }
  int64_t unix_ms() override { return inner_.unix_ms(); }
  void sleep(Nanos duration) override {
    inner_.sleep(duration);
    if (on_sleep) on_sleep();
  }
  std::function<void()> on_sleep;

 private:
  FakeClock inner_;
};

class WaitsTest : public testing::Test {
 protected:
  WaitsTest() {
    profile.cloud_init_wait_ms = 60'000;
    profile.dpkg_wait_ms = 30'000;
  }
  HardenRow row(size_t index) { return wait_before(world, profile).at(index); }

  TestFolder folder;
  FakeSystemd systemd{folder.path()};
  BusyClock clock;
  QuietWorld world{folder.path(), systemd, clock};
  HardenProfile profile;
};

TEST_F(WaitsTest, WhatIsNotThereIsNotWaitedFor) {
  EXPECT_EQ(row(0).status, "absent");
  EXPECT_EQ(row(1).status, "absent");
  systemd.put("/usr/bin/cloud-init", "");
  systemd.put("/run/cloud-init/disabled", "");
  EXPECT_EQ(row(0).status, "absent");
  EXPECT_EQ(clock.now(), Nanos(0));
}

TEST_F(WaitsTest, CloudInitIsWaitedForAndItsMarkerToo) {
  systemd.put("/run/cloud-init/status.json", R"({"v1": {"stage": "modules-final"}})");
  profile.cloud_init_marker = "/run/benchctl/ready";
  int turn = 0;
  clock.on_sleep = [&] {
    ++turn;
    if (turn == 3) systemd.put("/run/cloud-init/result.json", R"({"v1": {"errors": []}})");
    if (turn == 6) systemd.put("/run/benchctl/ready", "");
  };
  HardenRow waited = row(0);
  EXPECT_EQ(waited.status, "applied") << waited.reason;
  EXPECT_EQ(waited.found, "running (modules-final)");
  EXPECT_EQ(turn, 6);
  EXPECT_EQ(row(0).status, "already");
}

TEST_F(WaitsTest, TheBoundHoldsAndErrorsAreNoEnd) {
  systemd.put("/run/cloud-init/status.json", "{");
  HardenRow never = row(0);
  EXPECT_EQ(never.status, "failed");
  EXPECT_NE(never.reason.find("1m 00s"), std::string::npos) << never.reason;
  EXPECT_EQ(clock.now(), std::chrono::seconds(60));
  systemd.put("/run/cloud-init/result.json", R"({"v1": {"errors": ["no network"]}})");
  EXPECT_NE(row(0).reason.find("no network"), std::string::npos);
}

TEST_F(WaitsTest, TheHolderOfTheDpkgLockIsNamed) {
  systemd.put("/var/lib/dpkg/lock-frontend", "");
  EXPECT_EQ(row(1).status, "already");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t holder = fork();
  if (holder == 0) {
    int fd = open((folder.path() + "/var/lib/dpkg/lock-frontend").c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    char c = fcntl(fd, F_SETLK, &lock) == 0 ? 'y' : 'n';
    (void)!write(ready[1], &c, 1);
    pause();
    _exit(0);
  }
  char c = 0;
  ASSERT_EQ(read(ready[0], &c, 1), 1);
  ASSERT_EQ(c, 'y');
  systemd.put("/proc/" + std::to_string(holder) + "/cmdline", std::string("apt-get\0upgrade\0", 16));
  HardenRow held = row(1);
  EXPECT_EQ(held.status, "failed");
  EXPECT_EQ(held.read_back,
            "/var/lib/dpkg/lock-frontend is held by process " + std::to_string(holder) + " (apt-get upgrade)");
  bool ended = false;
  clock.on_sleep = [&] {
    if (!ended) kill(holder, SIGKILL), waitpid(holder, nullptr, 0);
    ended = true;
  };
  EXPECT_EQ(row(1).status, "applied");
}

}  // namespace
}  // namespace benchctl
