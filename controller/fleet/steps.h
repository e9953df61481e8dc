// A step of a machine: its intent is on the disk before the effect, its outcome after it, and a failpoint stands behind
// each of the two. This is what makes a run resumable, and what `status --timing` shows.
#pragma once

#include <functional>
#include <string>

#include "controller/store/store.h"
#include "lib/failpoint.h"
#include "lib/result.h"

namespace benchctl {

class Steps {
 public:
  // `channels` gives the SSH channels opened so far on this machine.
  Steps(Store& store, Failpoints& failpoints, int64_t machine, std::function<int64_t()> channels)
      : store_(store), failpoints_(failpoints), machine_(machine), channels_(std::move(channels)) {}

  Status run(const std::string& name, const std::function<Status()>& effect) {
    BENCHCTL_TRY(int64_t seq, store_.step_intent(machine_, name));
    BENCHCTL_CHECK(failpoints_.reach("after_intent:" + name));
    int64_t before = channels_();
    Status outcome = effect();
    BENCHCTL_CHECK(store_.step_done(machine_, seq, outcome.ok(), outcome.ok() ? "" : outcome.error().message,
                                    channels_() - before));
    BENCHCTL_CHECK(failpoints_.reach("after_done:" + name));
    return outcome;
  }

 private:
  Store& store_;
  Failpoints& failpoints_;
  int64_t machine_;
  std::function<int64_t()> channels_;
};

}  // namespace benchctl
