// One thing of a machine that can be made quiet. A knob looks, changes and puts back; what is done with that (journal,
// rows of the report) is written once, in harden.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/quiet/journal.h"
#include "agent/quiet/units.h"
#include "agent/quiet/world.h"
#include "lib/wire/harden.h"

namespace benchctl {

// What a knob sees.
struct Seen {
  enum class State { kThere, kAbsent, kNotExposed, kUnknown };
  State state = State::kThere;
  std::string text;    // in words, for the report
  std::string reason;  // of every state but kThere
  Json found;          // what put_back() needs
};

class Knob {
 public:
  // systemd must be told of changed links before units are started again: hence two passes.
  enum class Pass { kFiles, kRunning };

  explicit Knob(HardenKnob asked) : asked_(std::move(asked)) {}
  virtual ~Knob() = default;

  const HardenKnob& asked() const { return asked_; }
  // The unit whose state it lives by; empty: none.
  virtual std::string unit() const { return ""; }
  virtual Seen look() = 0;
  virtual bool satisfied(const Seen& seen) const = 0;
  // kRejected: the machine refuses it, so it is not exposed.
  virtual Status change(const Seen& seen, Pass pass) = 0;
  virtual Status put_back(const Json& found, Pass pass) = 0;
  // Is it again as it was found?
  virtual bool restored(const Seen& now, const JournalEntry& entry) const { return now.text == entry.text; }

 private:
  HardenKnob asked_;
};

using Knobs = std::vector<std::unique_ptr<Knob>>;

// `world` and `units` must outlive the knobs. A knob of all CPUs becomes one a file.
Knobs make_knobs(const HardenProfile& profile, QuietWorld& world, Units& units);
// The knob that wrote this entry; an error when there is none such.
Result<std::unique_ptr<Knob>> make_knob(const JournalEntry& entry, QuietWorld& world, Units& units);

std::unique_ptr<Knob> make_unit_knob(HardenKnob asked, QuietWorld& world, Units& units);
// A file of /proc/sys or /sys; `path` is where asked.target lies.
std::unique_ptr<Knob> make_value_knob(HardenKnob asked, std::string path, QuietWorld& world);
std::unique_ptr<Knob> make_swap_knob(HardenKnob asked, QuietWorld& world);

}  // namespace benchctl
