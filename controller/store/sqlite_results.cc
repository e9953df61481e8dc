// What trials refer to, their import, the way back from raw files, and the questions about them.
#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <set>

#include "controller/store/ingest.h"
#include "controller/store/raw_trials.h"
#include "controller/store/records.h"
#include "controller/store/sqlite_store.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kManifestBytes = 64 << 20;

// INSERT OR IGNORE, then a look whether what stands there is the same.
template <typename... Values>
Status save_once(sqlite::Database& database, const std::string& what, const char* insert, const char* same,
                 const Values&... values) {
  BENCHCTL_CHECK(database.run(insert, values...));
  BENCHCTL_TRY(auto select, database.query(same, values...));
  BENCHCTL_TRY(bool row, select.step());
  if (!row) return Error{ErrorKind::kInternal, what + " is in the store with other content"};
  return {};
}

void append(UnitResult& all, const UnitResult& one) {
  all.trials_new += one.trials_new;
  all.trials_same += one.trials_same;
  all.samples_new += one.samples_new;
  all.malformed.insert(all.malformed.end(), one.malformed.begin(), one.malformed.end());
  all.refused.insert(all.refused.end(), one.refused.begin(), one.refused.end());
}

// Takes out every trial with a file that is not what the manifest says, and any such other file.
Result<std::vector<PackEntry>> intact_entries(const std::string& folder, const std::vector<PackEntry>& entries,
                                              std::vector<UnitResult::Note>& refused) {
  std::set<std::string> bad;
  auto differs = [&](const PackEntry& entry) {
    auto found = scan_tree(folder, {entry.path});
    return !found || found->front().sha256 != entry.sha256;
  };
  RawUnit unit = group_by_trial(entries);
  for (const RawTrial& trial : unit.trials) {
    for (const PackEntry* entry : trial.entries) {
      if (!differs(*entry)) continue;
      refused.push_back(
          {trial.key.first, trial.key.second, sanitize(entry->path, 200) + ": missing or changed since it was pulled"});
      for (const PackEntry* one : trial.entries) bad.insert(one->path);
      break;
    }
  }
  for (const PackEntry* entry : unit.others) {
    if (!differs(*entry)) continue;
    refused.push_back({0, 0, sanitize(entry->path, 200) + ": missing or changed since it was pulled"});
    bad.insert(entry->path);
  }
  std::vector<PackEntry> intact;
  for (const PackEntry& entry : entries)
    if (bad.count(entry.path) == 0) intact.push_back(entry);
  return intact;
}

// The trials' own words serve as expectation: what is intact was compared with the plan when it came in.
std::vector<ExpectedTrial> expectations_from(const std::string& folder, const std::vector<PackEntry>& entries,
                                             const std::map<std::pair<std::string, std::string>, std::string>& points) {
  std::vector<ExpectedTrial> expected;
  for (const RawTrial& trial : group_by_trial(entries).trials) {
    auto text = read_file(folder + "/" + trial.folder + "/trial.json", 1 << 20);
    if (!text) continue;
    auto json = Json::parse(*text);
    if (!json) continue;
    auto record = trial_from_json(*json);
    if (!record) continue;
    auto point = points.find({record->spec.suite, record->spec.point});
    if (point != points.end()) expected.push_back({record->spec, point->second});
  }
  return expected;
}

}  // namespace

Status SqliteStore::save_point(const PointRow& point) {
  return mutate([&] {
    return save_once(database_, "point " + point.hash,
                     "INSERT OR IGNORE INTO point (hash, suite, workload, mode, label, baseline, params) VALUES (?, ?, "
                     "?, ?, ?, ?, ?)",
                     "SELECT 1 FROM point WHERE hash = ? AND suite = ? AND workload = ? AND mode = ? AND label = ? AND "
                     "baseline = ? AND params = ?",
                     point.hash, point.suite, point.workload, point.mode, point.label, point.baseline,
                     point.params.dump());
  });
}

Status SqliteStore::save_bundle(const BundleRow& bundle) {
  return mutate([&] {
    return save_once(database_, "bundle " + bundle.sha256,
                     "INSERT OR IGNORE INTO bundle (sha256, workload, build, manifest) VALUES (?, ?, ?, ?)",
                     "SELECT 1 FROM bundle WHERE sha256 = ? AND workload = ? AND build = ? AND manifest = ?",
                     bundle.sha256, bundle.workload, bundle.build, bundle.manifest.dump());
  });
}

Status SqliteStore::save_trace(const TraceRow& trace) {
  return mutate([&]() -> Status {
    for (const std::string& name : {trace.suite, trace.arm})
      BENCHCTL_CHECK(database_.run("INSERT OR IGNORE INTO name (text) VALUES (?)", name));
    BENCHCTL_CHECK(save_once(
        database_, "trace of " + sanitize(trace.suite, 80) + ", " + sanitize(trace.arm, 80),
        "INSERT OR IGNORE INTO trace (run, suite, arm, sha256, info) VALUES (?, (SELECT id FROM name WHERE text = ?), "
        "(SELECT id FROM name WHERE text = ?), ?, ?)",
        "SELECT 1 FROM v_traces WHERE run = ? AND suite = ? AND arm = ? AND sha256 = ? AND info = ?", trace.run,
        trace.suite, trace.arm, trace.sha256, trace.info));
    return write_run_record(database_, trace.run);
  });
}

Status SqliteStore::leave_out(int64_t machine, const std::vector<LeftOutRow>& rows) {
  if (rows.empty()) return {};
  return mutate([&]() -> Status {
    for (const LeftOutRow& row : rows) {
      for (const std::string& name : {row.suite, row.arm})
        BENCHCTL_CHECK(database_.run("INSERT OR IGNORE INTO name (text) VALUES (?)", name));
      BENCHCTL_CHECK(database_.run(
          "INSERT OR IGNORE INTO left_out (machine, suite, arm, kind, reason) VALUES (?, (SELECT id FROM name WHERE "
          "text = ?), (SELECT id FROM name WHERE text = ?), ?, ?)",
          machine, row.suite, row.arm, row.kind, row.reason));
    }
    return write_machine_record(database_, machine);
  });
}

Result<std::vector<TraceRow>> SqliteStore::traces(const std::string& run) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select, database_.query("SELECT run, suite, arm, sha256, info FROM v_traces WHERE run = ? ORDER BY "
                                            "suite, arm",
                                            run));
  std::vector<TraceRow> rows;
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return rows;
    rows.push_back({select.text(0), select.text(1), select.text(2), select.text(3), select.text(4)});
  }
}

Result<UnitResult> SqliteStore::import_unit(int64_t machine, const UnitSource& unit) {
  std::lock_guard guard(mutex_);
  return import_rows(machine, unit);
}

Result<UnitResult> SqliteStore::import_rows(int64_t machine, const UnitSource& unit) {
  if (!valid_id(unit.name)) return Error{ErrorKind::kUsage, "unit \"" + sanitize(unit.name, 80) + "\": a bad name"};
  BENCHCTL_TRY(
      auto select,
      database_.query("SELECT m.run, l.fleet, l.slot, r.folder, l.nonce FROM machine m JOIN lease l ON l.nonce "
                      "= m.lease JOIN run r ON r.id = m.run WHERE m.id = ?",
                      machine));
  BENCHCTL_TRY(bool row, select.step());
  if (!row) return Error{ErrorKind::kUsage, "store: no machine " + std::to_string(machine)};
  ImportPlace place{machine, select.text(0), select.text(1), select.integer(2), "", clock_.unix_ms()};
  std::string run_folder = select.text(3), nonce = select.text(4);
  select.reset();
  if (unit.folder.starts_with(run_folder + "/")) place.unit_folder = unit.folder.substr(run_folder.size() + 1);
  if (!safe_relative_path(place.unit_folder))
    return Error{ErrorKind::kInternal, "unit " + unit.name + ": " + unit.folder + " is not below " + run_folder};

  UnitSource source = unit;
  if (source.entries.empty()) {
    BENCHCTL_TRY(source.entries, scan_tree(unit.folder, {}));
  }
  std::string manifest = format_manifest(source.entries);
  BENCHCTL_CHECK(failpoints_->reach("import:begin"));
  BENCHCTL_TRY(auto transaction, sqlite::Transaction::begin(database_));
  BENCHCTL_TRY(UnitResult result, import_unit_rows(database_, *failpoints_, place, source));
  BENCHCTL_CHECK(database_.run(
      "INSERT OR IGNORE INTO unit (machine, name, seq, folder, manifest, imported_ms) VALUES (?1, ?2, (SELECT "
      "coalesce(max(seq), 0) + 1 FROM unit WHERE machine = ?1), ?3, ?4, ?5)",
      machine, unit.name, place.unit_folder, sha256_hex(manifest), place.now_ms));
  bool first = database_.changes() == 1;
  BENCHCTL_CHECK(write_machine_record(database_, machine));
  // The first manifest of a unit stays: it is the one that the rows came from.
  if (first)
    BENCHCTL_CHECK(write_atomic(records_dir(run_folder) + "/" + nonce + "-" + unit.name + ".manifest", manifest));
  BENCHCTL_CHECK(failpoints_->reach("import:commit"));
  BENCHCTL_CHECK(transaction.commit());
  BENCHCTL_CHECK(failpoints_->reach("import:committed"));
  return result;
}

Result<RebuildResult> SqliteStore::rebuild_run(const std::string& run_folder) {
  std::lock_guard guard(mutex_);
  std::string records = records_dir(run_folder);
  BENCHCTL_TRY(std::string text, read_file(records + "/run.json"));
  BENCHCTL_TRY(Json record, Json::parse(text));
  RebuildResult result;
  {
    BENCHCTL_TRY(auto transaction, sqlite::Transaction::begin(database_));
    if (auto restored = restore_run(database_, record, run_folder); !restored)
      return restored.error().in(records + "/run.json");
    BENCHCTL_CHECK(transaction.commit());
  }
  result.run = record["run"].as_array()[0]["id"].as_string();
  BENCHCTL_TRY(auto names, list_dir(records));
  for (const std::string& name : names) {
    if (name == "run.json" || !name.ends_with(".json")) continue;
    if (auto rebuilt = rebuild_machine(run_folder, name, result); !rebuilt)
      return rebuilt.error().in(records + "/" + name);
  }
  return result;
}

Status SqliteStore::rebuild_machine(const std::string& run_folder, const std::string& record_file,
                                    RebuildResult& result) {
  std::string records = records_dir(run_folder);
  BENCHCTL_TRY(std::string text, read_file(records + "/" + record_file));
  BENCHCTL_TRY(Json record, Json::parse(text));
  int64_t machine = 0;
  {
    BENCHCTL_TRY(auto transaction, sqlite::Transaction::begin(database_));
    BENCHCTL_TRY(machine, restore_machine(database_, record));
    BENCHCTL_CHECK(transaction.commit());
  }
  std::map<std::pair<std::string, std::string>, std::string> points;
  for (const Json& point : record["point"].as_array())
    points[{point["suite"].as_string(), point["label"].as_string()}] = point["hash"].as_string();
  std::string nonce = record_file.substr(0, record_file.size() - std::string_view(".json").size());
  for (const Json& row : record["unit"].as_array()) {
    UnitSource unit;
    unit.name = row["name"].as_string();
    std::string below = row["folder"].as_string();
    if (!valid_id(unit.name) || !safe_relative_path(below)) return Error{ErrorKind::kUsage, "a unit with a bad name"};
    unit.folder = run_folder + "/" + below;
    BENCHCTL_TRY(std::string manifest,
                 read_file(records + "/" + nonce + "-" + unit.name + ".manifest", kManifestBytes));
    BENCHCTL_TRY(auto entries, parse_manifest(manifest, PackCaps{}));
    BENCHCTL_TRY(unit.entries, intact_entries(unit.folder, entries, result.trials.refused));
    unit.expected = expectations_from(unit.folder, unit.entries, points);
    BENCHCTL_TRY(UnitResult imported, import_rows(machine, unit));
    append(result.trials, imported);
    ++result.units;
  }
  return {};
}

Result<std::vector<std::string>> SqliteStore::units(int64_t machine) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select, database_.query("SELECT name FROM unit WHERE machine = ? ORDER BY seq", machine));
  std::vector<std::string> names;
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return names;
    names.push_back(select.text(0));
  }
}

Result<std::vector<TrialRow>> SqliteStore::trials(const std::string& run) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select,
               database_.query("SELECT trial_id, machine_id, number, suite, point, arm, aa_copy, round, position, "
                               "attempt, verdict, reason, started_ms, seconds, steal_percent, folder FROM v_trials "
                               "WHERE run = ? ORDER BY machine_id, round, number, attempt",
                               run));
  std::vector<TrialRow> rows;
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return rows;
    rows.push_back({select.integer(0), select.integer(1), select.integer(2), select.text(3), select.text(4),
                    select.text(5), select.integer(6) != 0, select.small(7), select.small(8), select.small(9),
                    select.text(10), select.text(11), select.integer(12), select.real(13), select.maybe_real(14),
                    select.text(15)});
  }
}

Result<std::vector<VerdictCount>> SqliteStore::verdicts(const std::string& run) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select,
               database_.query("SELECT t.verdict, t.round > 0, count(*) FROM trial t JOIN site s ON s.id = "
                               "t.site WHERE s.run = ? GROUP BY 1, 2 ORDER BY 1, 2",
                               run));
  std::vector<VerdictCount> counts;
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return counts;
    counts.push_back({select.text(0), select.integer(1) != 0, select.integer(2)});
  }
}

}  // namespace benchctl
