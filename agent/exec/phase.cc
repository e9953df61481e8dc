#include "agent/exec/phase.h"

#include <poll.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/exec/output.h"
#include "agent/exec/process_tree.h"

namespace benchctl {
namespace {

using std::chrono::milliseconds;

Result<UniqueFd> second_timer() {
  UniqueFd timer(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  itimerspec every_second{{1, 0}, {1, 0}};
  if (!timer || timerfd_settime(timer.get(), 0, &every_second, nullptr) != 0) return errno_error("timerfd");
  return timer;
}

// The supervision of one started child. Its loop wakes for the timer, for output, for a stop and for the end, and for
// nothing else.
class Supervisor {
 public:
  Supervisor(Spawned child, PhaseRequest& request, PhaseWatch& watch, UniqueFd timer, Nanos started)
      : watch_(watch),
        request_(request),
        child_(std::move(child)),
        timer_(std::move(timer)),
        started_(started),
        tree_(child_.pid, request.spawn.uid, watch.cgroup),
        out_(std::move(child_.out), std::move(request.out_file), request.output_cap),
        err_(std::move(child_.err), std::move(request.err_file), request.output_cap) {}

  PhaseOutcome run() {
    Deadline deadline{started_ + milliseconds(request_.timeout_ms)};
    bool exited = false;
    while (!exited) {
      bool timer = false;
      exited = wait(deadline, timer);
      if (timer) {
        watch_.sampler.sample();
        tree_.reap_orphans();
      }
      if (exited) break;
      if (ending_) {
        if (deadline.passed(watch_.clock)) break;  // it did not heed SIGTERM
        continue;
      }
      if (!outcome_.write_error.empty()) {
        outcome_.cause = PhaseOutcome::Cause::kNoSpace;
      } else if (out_.over_cap() || err_.over_cap()) {
        outcome_.cause = PhaseOutcome::Cause::kOutputLimit;
      } else if (watch_.stop.requested()) {
        outcome_.cause = PhaseOutcome::Cause::kStopped;
      } else if (deadline.passed(watch_.clock)) {
        outcome_.cause = PhaseOutcome::Cause::kTimeout;
      } else {
        continue;
      }
      ending_ = true;
      kill(-child_.pid, SIGTERM);
      deadline = Deadline::in(watch_.clock, milliseconds(request_.grace_ms));
    }
    finish(exited);
    return std::move(outcome_);
  }

 private:
  // True when the main process has ended.
  bool wait(const Deadline& deadline, bool& timer) {
    pollfd fds[] = {{child_.pidfd.get(), POLLIN, 0},
                    {timer_.get(), POLLIN, 0},
                    {ending_ ? -1 : watch_.stop.fd(), POLLIN, 0},
                    {out_.poll_fd(), POLLIN, 0},
                    {err_.poll_fd(), POLLIN, 0}};
    int64_t left_ms = std::chrono::ceil<milliseconds>(deadline.left(watch_.clock)).count();
    poll(fds, std::size(fds), static_cast<int>(std::clamp<int64_t>(left_ms, 0, 3'600'000)));
    ++outcome_.wakeups;
    if (fds[1].revents != 0) {
      uint64_t ticks = 0;
      timer = read(timer_.get(), &ticks, sizeof ticks) == sizeof ticks;
    }
    if (fds[3].revents != 0) note(out_.pump());
    if (fds[4].revents != 0) note(err_.pump());
    return fds[0].revents != 0;
  }

  void finish(bool exited) {
    if (!exited) {
      tree_.kill_once();
      pollfd gone{child_.pidfd.get(), POLLIN, 0};
      exited = poll(&gone, 1, static_cast<int>(request_.ending_ms)) == 1;
    }
    // The window ends here; what comes after is not the trial's time.
    if (exited) outcome_.io = process_io(child_.pid);
    if (exited) outcome_.reaped = wait4(child_.pid, &outcome_.wait_status, 0, &outcome_.usage) == child_.pid;
    outcome_.wall_ns = (watch_.clock.now() - started_).count();
    if (watch_.meter != nullptr) outcome_.measured = watch_.meter->stop(outcome_.wall_ns);
    tree_.end_all(request_.ending_ms);
    outcome_.ended_descendants = tree_.ended();
    outcome_.survivors = tree_.survivors();
    note(out_.finish());
    note(err_.finish());
    bool flooded = out_.over_cap() || err_.over_cap();
    if (outcome_.cause == PhaseOutcome::Cause::kItself && !outcome_.write_error.empty())
      outcome_.cause = PhaseOutcome::Cause::kNoSpace;
    else if (outcome_.cause == PhaseOutcome::Cause::kItself && flooded)
      outcome_.cause = PhaseOutcome::Cause::kOutputLimit;
    outcome_.stdout_bytes = out_.bytes();
    outcome_.stderr_bytes = err_.bytes();
    outcome_.stderr_tail = err_.tail();
  }

  void note(const Status& status) {
    if (!status && outcome_.write_error.empty()) outcome_.write_error = status.error().message;
  }

  PhaseWatch& watch_;
  PhaseRequest& request_;
  Spawned child_;
  UniqueFd timer_;
  Nanos started_;
  ProcessTree tree_;
  OutputCopy out_, err_;
  PhaseOutcome outcome_;
  bool ending_ = false;
};

}  // namespace

Result<PhaseOutcome> run_phase(PhaseRequest request, PhaseWatch watch) {
  BENCHCTL_TRY(UniqueFd timer, second_timer());
  if (watch.meter != nullptr) watch.meter->start();
  Nanos started = watch.clock.now();
  auto child = spawn(request.spawn);
  if (!child && child.error().kind == ErrorKind::kWorkload) {
    PhaseOutcome outcome;
    outcome.missing = child.error().message;
    return outcome;
  }
  if (!child) return child.error();
  return Supervisor(std::move(*child), request, watch, std::move(timer), started).run();
}

}  // namespace benchctl
