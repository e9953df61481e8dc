#include "agent/quiet/harden.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "agent/quiet/knob.h"
#include "agent/quiet/proof.h"
#include "agent/quiet/waits.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Pass = Knob::Pass;
using State = Seen::State;

void read_units(const Knobs& knobs, Units& units) {
  std::vector<std::string> names;
  for (const auto& knob : knobs)
    if (std::string unit = knob->unit(); !unit.empty()) names.push_back(std::move(unit));
  units.read(names);
}

// A row that is final unless the knob is there.
HardenRow row_of(const Knob& knob, const Seen& seen) {
  HardenRow row{knob.asked().knob, knob.asked().target, knob.asked().requested, seen.text, "", "", seen.reason};
  if (seen.state == State::kAbsent) row.status = "absent";
  if (seen.state == State::kNotExposed) row.status = "not_exposed";
  if (seen.state == State::kUnknown) row.status = "failed";
  return row;
}

void fail(HardenRow& row, const Error& error) {
  // The first reason is the cause, the others its consequences.
  if (row.status == "failed" || row.status == "not_exposed") return;
  row.status = error.kind == ErrorKind::kRejected ? "not_exposed" : "failed";
  row.reason = error.message;
}

std::vector<std::string> failures(const std::vector<HardenRow>& rows) {
  std::vector<std::string> problems;
  for (const HardenRow& row : rows)
    if (row.status == "failed") problems.push_back(row.knob + " " + row.target + ": " + row.reason);
  return problems;
}

// A timer that is named already needs no second line.
void append_new(std::vector<std::string>& problems, std::vector<std::string> more) {
  for (std::string& line : more) {
    const std::string first = line.substr(0, line.find(' '));
    bool named = std::any_of(problems.begin(), problems.end(),
                             [&](const std::string& one) { return one.starts_with("timer " + first + ":"); });
    if (!named) problems.push_back(std::move(line));
  }
}

QuietProof prove(const QuietWorld& world, Units& units, const HardenProfile& profile, const Journal* journal,
                 std::vector<std::string> problems) {
  append_new(problems, timer_problems(units, profile.allow_timers));
  append_new(problems, crontab_problems(world, units, journal));
  return {problems.empty(), std::move(problems)};
}

Status apply_knobs(const Knobs& knobs, Units& units, Journal& journal, std::vector<HardenRow>& rows) {
  read_units(knobs, units);
  struct Work {
    Knob* knob;
    Seen seen;
    size_t row;
  };
  std::vector<Work> work;
  bool units_touched = false;
  for (const auto& knob : knobs) {
    Seen seen = knob->look();
    HardenRow row = row_of(*knob, seen);
    const JournalEntry* first = journal.find(row.knob, row.target);
    if (first != nullptr) row.found = first->text;
    if (row.status.empty() && knob->satisfied(seen)) {
      row.read_back = seen.text;
      row.status = first != nullptr ? "applied" : "already";
    } else if (row.status.empty()) {
      BENCHCTL_CHECK(journal.note({row.knob, row.target, row.requested, seen.text, seen.found}));
      // Stopped before it is masked: a timer that is masked while it waits counts as failed.
      for (Pass pass : {Pass::kRunning, Pass::kFiles})
        if (auto changed = knob->change(seen, pass); !changed) fail(row, changed.error());
      units_touched = units_touched || !knob->unit().empty();
      work.push_back({knob.get(), std::move(seen), rows.size()});
    }
    rows.push_back(std::move(row));
  }
  if (units_touched)
    if (auto told = units.reload(); !told)
      for (const Work& one : work)
        if (!one.knob->unit().empty()) fail(rows[one.row], told.error());
  read_units(knobs, units);
  // What something else has started again in between cannot come back a second time.
  bool again = false;
  for (const Work& one : work) {
    Seen now = one.knob->look();
    if (now.state != State::kThere || !now.found["running"].as_bool()) continue;
    again = true;
    if (auto changed = one.knob->change(now, Pass::kRunning); !changed) fail(rows[one.row], changed.error());
  }
  if (again) read_units(knobs, units);
  for (const Work& one : work) {
    HardenRow& row = rows[one.row];
    Seen now = one.knob->look();
    row.read_back = now.text;
    bool as_asked = now.state == State::kThere && one.knob->satisfied(now);
    // What is as asked is so whatever was said on the way.
    if (as_asked) {
      row.status = "applied";
      row.reason.clear();
    } else if (row.status.empty()) {
      row.status = "failed";
      row.reason = "was not read back as asked" + (now.reason.empty() ? "" : ": " + now.reason);
    }
  }
  return {};
}

// Timers that no list names. One made for the moment (systemd-run) cannot be put back, so it is left for the proof.
Result<Knobs> sweep(QuietWorld& world, Units& units, const HardenProfile& profile, const std::vector<HardenRow>& done) {
  Knobs knobs;
  auto standing = forbidden_timers(units, profile.allow_timers);
  if (!standing) return knobs;  // the proof says so
  for (const Units::Timer& timer : *standing) {
    bool tried = std::any_of(done.begin(), done.end(), [&](const HardenRow& row) { return row.target == timer.name; });
    bool transient = exists(world.path("/run/systemd/transient/" + timer.name));
    HardenKnob asked{"timer", timer.name, "masked"};
    if (tried || transient || !check_knob(asked)) continue;
    knobs.push_back(make_unit_knob(std::move(asked), world, units));
  }
  return knobs;
}

Result<FileLock> lock_journal(const std::string& journal) {
  size_t slash = journal.rfind('/');
  if (slash != std::string::npos && slash > 0) BENCHCTL_CHECK(make_dirs(journal.substr(0, slash)));
  auto lock = FileLock::take(journal + ".lock", "another hardening of this machine");
  if (!lock) return lock.error().in("this machine is being hardened or undone already");
  return lock;
}

}  // namespace

Result<HardenReport> Hardening::show(const HardenProfile& profile) {
  HardenReport report{.verb = "show", .profile = profile.name};
  BENCHCTL_TRY(auto journal, Journal::load(journal_));
  Units units(world_);
  Knobs knobs = make_knobs(profile, world_, units);
  read_units(knobs, units);
  for (const auto& knob : knobs) {
    Seen seen = knob->look();
    HardenRow row = row_of(*knob, seen);
    if (row.status.empty()) row.status = knob->satisfied(seen) ? "already" : "differs";
    report.rows.push_back(std::move(row));
  }
  report.proof = prove(world_, units, profile, journal ? &*journal : nullptr, failures(report.rows));
  return report;
}

Result<HardenReport> Hardening::apply(const HardenProfile& profile) {
  HardenReport report{.verb = "apply", .profile = profile.name};
  BENCHCTL_TRY(FileLock lock, lock_journal(journal_));
  report.rows = wait_before(world_, profile);
  if (auto problems = failures(report.rows); !problems.empty()) {
    for (std::string& problem : problems) problem += "; nothing was changed";
    report.proof = {false, std::move(problems)};
    return report;
  }
  bool repeated = exists(journal_);
  BENCHCTL_TRY(Journal journal, Journal::begin(journal_, profile.name, find_crontabs(world_)));
  Units units(world_);
  // systemd remembers what unit files were until it is told: an apply that died may have made masks it knows nothing
  // of.
  if (repeated && units.obstacle().empty()) BENCHCTL_CHECK(units.reload());
  BENCHCTL_CHECK(apply_knobs(make_knobs(profile, world_, units), units, journal, report.rows));
  BENCHCTL_TRY(Knobs swept, sweep(world_, units, profile, report.rows));
  const size_t before = report.rows.size();
  BENCHCTL_CHECK(apply_knobs(swept, units, journal, report.rows));
  for (size_t i = before; i < report.rows.size(); ++i)
    if (report.rows[i].status == "applied")
      report.rows[i].reason = "swept: it had a next run and is in neither list of the profile";
  report.proof = prove(world_, units, profile, &journal, failures(report.rows));
  return report;
}

Result<HardenReport> Hardening::verify(const HardenProfile& profile) {
  HardenReport report{.verb = "verify", .profile = profile.name};
  BENCHCTL_TRY(auto journal, Journal::load(journal_));
  Units units(world_);
  Knobs knobs = make_knobs(profile, world_, units);
  // What was swept beside the profile.
  for (const JournalEntry& entry : journal ? journal->entries() : std::vector<JournalEntry>()) {
    bool known = std::any_of(knobs.begin(), knobs.end(), [&](const auto& knob) {
      return knob->asked().knob == entry.knob && knob->asked().target == entry.target;
    });
    if (known) continue;
    BENCHCTL_TRY(auto knob, make_knob(entry, world_, units));
    knobs.push_back(std::move(knob));
  }
  read_units(knobs, units);
  for (const auto& knob : knobs) {
    Seen seen = knob->look();
    HardenRow row = row_of(*knob, seen);
    row.read_back = seen.text;
    const JournalEntry* first = journal ? journal->find(row.knob, row.target) : nullptr;
    if (first != nullptr) row.found = first->text;
    if (row.status.empty() && knob->satisfied(seen)) row.status = first != nullptr ? "applied" : "already";
    if (row.status.empty()) {
      row.status = "failed";
      row.reason = "is " + seen.text + ", asked for was " + row.requested;
    }
    report.rows.push_back(std::move(row));
  }
  std::vector<std::string> problems = failures(report.rows);
  if (!journal) problems.insert(problems.begin(), "nothing was applied: there is no journal " + journal_);
  report.proof = prove(world_, units, profile, journal ? &*journal : nullptr, std::move(problems));
  return report;
}

Result<HardenReport> Hardening::undo() {
  HardenReport report{.verb = "undo", .proof = {.ok = true}};
  BENCHCTL_TRY(FileLock lock, lock_journal(journal_));
  BENCHCTL_TRY(auto journal, Journal::load(journal_));
  if (!journal) {
    report.rows.push_back({"journal", journal_, "put back", "", "", "absent", "there is nothing to undo"});
    return report;
  }
  report.profile = journal->profile();
  Units units(world_);
  // In reverse: what was changed first is put back last.
  std::vector<const JournalEntry*> entries;
  Knobs knobs;
  for (auto entry = journal->entries().rbegin(); entry != journal->entries().rend(); ++entry) {
    BENCHCTL_TRY(auto knob, make_knob(*entry, world_, units));
    knobs.push_back(std::move(knob));
    entries.push_back(&*entry);
  }
  read_units(knobs, units);
  bool links = false;
  for (size_t i = 0; i < knobs.size(); ++i) {
    Seen now = knobs[i]->look();
    report.rows.push_back({entries[i]->knob, entries[i]->target, entries[i]->text, now.text, "", "", ""});
    HardenRow& row = report.rows.back();
    if (now.state == State::kThere && knobs[i]->restored(now, *entries[i])) row.status = "already";
    links = links || !knobs[i]->unit().empty();
    if (auto put = knobs[i]->put_back(entries[i]->found, Pass::kFiles); !put) fail(row, put.error());
  }
  if (links && units.obstacle().empty())
    if (auto told = units.reload(); !told) return told.error();
  read_units(knobs, units);
  for (size_t i = 0; i < knobs.size(); ++i)
    if (auto put = knobs[i]->put_back(entries[i]->found, Pass::kRunning); !put) fail(report.rows[i], put.error());
  read_units(knobs, units);
  for (size_t i = 0; i < knobs.size(); ++i) {
    HardenRow& row = report.rows[i];
    Seen now = knobs[i]->look();
    row.read_back = now.text;
    if (knobs[i]->restored(now, *entries[i])) {
      if (row.status != "already") row.status = "applied";
      row.reason.clear();
    } else {
      row.status = "failed";
      if (row.reason.empty()) row.reason = "is " + now.text + ", found was " + entries[i]->text;
    }
  }
  if (auto problems = failures(report.rows); !problems.empty()) {
    report.proof = {false, std::move(problems)};
    return report;
  }
  BENCHCTL_CHECK(journal->retire());
  return report;
}

}  // namespace benchctl
