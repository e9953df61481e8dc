// A profile's knobs on one machine: looked at, applied, verified, undone. docs/hardening.md says what each means.
#pragma once

#include <string>

#include "agent/quiet/world.h"
#include "lib/result.h"
#include "lib/wire/harden.h"

namespace benchctl {

// Each gives a report; an error is a fault of ours (a journal that cannot be written or read), not of the machine.
class Hardening {
 public:
  Hardening(QuietWorld& world, std::string journal) : world_(world), journal_(std::move(journal)) {}

  Result<HardenReport> show(const HardenProfile& profile);
  // Waits as the profile says, then changes what is not as asked, each change noted in the journal before it is made.
  // A timer that still has a next run, is in neither list of the profile, and can be masked, is masked too. Repeating
  // it, also after a crash, never forgets what was found first.
  Result<HardenReport> apply(const HardenProfile& profile);
  // Reads back every knob that was applied and looks for timers and crontabs; changes nothing.
  Result<HardenReport> verify(const HardenProfile& profile);
  // Puts back what the journal says, then retires it. A row that failed keeps the journal for another try.
  Result<HardenReport> undo();

 private:
  QuietWorld& world_;
  std::string journal_;
};

}  // namespace benchctl
