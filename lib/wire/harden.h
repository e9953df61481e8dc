// Making a machine quiet: what is asked for (a profile, data), what came of it (a report, one row a knob and target),
// and the proof that nothing will start by itself. JSON on the wire; version checked before anything else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

inline constexpr int kHardenVersion = 1;

// Knobs, their targets and what may be requested of them:
//   service   unit.service|.socket|.path   masked | stopped | disabled
//   timer     unit.timer                   masked
//   sysctl    vm.swappiness                a value
//   file      /sys/…                       a value; of a file that shows choices ("always [never]") the chosen one
//   swap      all                          off
//   governor  all                          the name of a governor, on each CPU that has one
//   turbo     all                          off
//   smt       all                          off
struct HardenKnob {
  std::string knob;
  std::string target;
  std::string requested;
};

struct HardenProfile {
  int version = kHardenVersion;
  std::string name;
  std::vector<HardenKnob> knobs;          // in the order in which they are applied
  std::vector<std::string> allow_timers;  // may have a next run: neither swept nor a problem
  int64_t cloud_init_wait_ms = 0;         // bounds of the waits before the first change; 0: no such wait
  std::string cloud_init_marker;          // a file that must exist too where cloud-init runs; empty: none
  int64_t dpkg_wait_ms = 0;
};

// Is `value` something that may be asked of this knob, and does `target` name one? The error names both.
Status check_knob(const HardenKnob& knob);
// Unit names as systemd takes them, no template and no path.
bool valid_unit(std::string_view name);

// applied      written and read back as asked (undo: put back and read back as found)
// already      was as asked, nothing was written
// differs      is not as asked (only from `show`, which writes nothing)
// not_exposed  this machine does not offer it, or it belongs to the host of a container
// absent       there is no such unit here
// failed       could not be written, or was not read back as asked
struct HardenRow {
  std::string knob;
  std::string target;
  std::string requested;
  std::string found;  // before the first change
  std::string read_back;
  std::string status;
  std::string reason;
};

struct QuietProof {
  bool ok = false;
  std::vector<std::string> problems;  // ok is exactly: there is none
};

struct HardenReport {
  int version = kHardenVersion;
  std::string verb;     // show | apply | verify | undo
  std::string profile;  // its name
  std::vector<HardenRow> rows;
  // show: the timers and crontabs as they stand. undo: rows that failed are its problems, nothing else is looked at.
  QuietProof proof;
};

Json to_json(const HardenProfile& profile);
Json to_json(const HardenReport& report);
Json to_json(const QuietProof& proof);
// Strict: an unknown knob, a value of another type, a number of rows over the caps is an error, never skipped. Texts of
// a report are still foreign: sanitize() them before showing.
Result<HardenProfile> harden_profile_from_json(const Json& json);
Result<HardenReport> harden_report_from_json(const Json& json);
// With the caps of a report that came from a machine.
Result<HardenReport> parse_harden_report(std::string_view text);

}  // namespace benchctl
