// Deadlines of a phase when the clocks of the machine do what clocks of machines do.
#include "agent/exec/phase.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "lib/test_folder.h"

namespace benchctl {
namespace {

// The machine's clocks, moved: after the second look (the start of the trial) the boot clock is `asleep` further on, as
// after a suspend, and every look at the date moves it by `date_step`.
class MovedClock final : public Clock {
 public:
  MovedClock(Nanos asleep, int64_t date_step_ms) : asleep_(asleep), date_step_ms_(date_step_ms) {}
  Nanos now() override { return real_.now() + (++looks_ > 2 ? asleep_ : Nanos{0}); }
  int64_t unix_ms() override { return real_.unix_ms() + (date_ms_ += date_step_ms_); }
  void sleep(Nanos duration) override { real_.sleep(duration); }

 private:
  SystemClock real_;
  Nanos asleep_;
  int64_t date_step_ms_, date_ms_ = 0;
  int looks_ = 0;
};

PhaseOutcome run(const std::string& script, int64_t timeout_ms, Clock& clock) {
  TestFolder folder;
  auto stop = StopSignal::install();
  EXPECT_TRUE(stop.ok());
  CgroupHost cgroups;
  TrialCgroup group(cgroups, "none", {});
  Sampler sampler(clock);
  sampler.begin(1, 1);
  PhaseRequest request;
  request.spawn.argv = {"/bin/sh", "-c", script};
  request.spawn.environment = {"PATH=/usr/bin:/bin"};
  request.spawn.folder = folder.path();
  request.timeout_ms = timeout_ms;
  request.output_cap = 1 << 20;
  request.out_file.reset(open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  request.err_file.reset(open((folder / "err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  auto outcome = run_phase(std::move(request), PhaseWatch{clock, *stop, group, sampler});
  EXPECT_TRUE(outcome.ok());
  return outcome ? std::move(*outcome) : PhaseOutcome();
}

TEST(Phase, ATrialThatSleptBeyondItsDeadlineWithTheMachineTimesOutOnWaking) {
  MovedClock clock(std::chrono::hours(2), 0);
  PhaseOutcome outcome = run("sleep 600", 3'600'000, clock);
  EXPECT_EQ(outcome.cause, PhaseOutcome::Cause::kTimeout);
  EXPECT_TRUE(outcome.reaped);
}

TEST(Phase, AJumpOfTheDateChangesNeitherDeadlineNorDuration) {
  constexpr int64_t kDay = 86'400'000;
  for (int64_t step : {kDay, -kDay}) {
    MovedClock clock(Nanos{0}, step);
    PhaseOutcome outcome = run("sleep 0.05; exit 3", 60'000, clock);
    EXPECT_EQ(outcome.cause, PhaseOutcome::Cause::kItself);
    EXPECT_EQ(WEXITSTATUS(outcome.wait_status), 3);
    EXPECT_GT(outcome.wall_ns, 0);
    EXPECT_LT(outcome.wall_ns, kDay * 1'000'000 / 2);
  }
}

}  // namespace
}  // namespace benchctl
