#include "controller/store/ingest.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <unordered_map>

#include "controller/store/raw_trials.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using Ids = std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>>;

// Ids of dictionary-encoded texts; lives as long as one import, so that a rollback cannot leave a wrong id behind.
class Names {
 public:
  static Result<Names> make(sqlite::Database& database) {
    BENCHCTL_TRY(auto insert, database.prepare("INSERT OR IGNORE INTO name (text) VALUES (?)"));
    BENCHCTL_TRY(auto select, database.prepare("SELECT id FROM name WHERE text = ?"));
    BENCHCTL_TRY(auto metric_insert,
                 database.prepare("INSERT OR IGNORE INTO metric (name, unit, better) VALUES (?, ?, ?)"));
    BENCHCTL_TRY(auto metric_select,
                 database.prepare("SELECT id FROM metric WHERE name = ? AND unit = ? AND better = ?"));
    return Names(std::move(insert), std::move(select), std::move(metric_insert), std::move(metric_select));
  }

  Result<int64_t> id(std::string_view text) {
    if (auto known = ids_.find(text); known != ids_.end()) return known->second;
    BENCHCTL_CHECK(insert_.run_with(text));
    select_.bind_all(text);
    BENCHCTL_TRY(int64_t id, only(select_));
    ids_.emplace(text, id);
    return id;
  }

  Result<int64_t> metric(const ResultSample& sample) {
    metric_key_.assign(sample.metric).append("\n").append(sample.unit).append("\n").append(sample.better);
    if (auto known = metrics_.find(metric_key_); known != metrics_.end()) return known->second;
    BENCHCTL_TRY(int64_t name, id(sample.metric));
    BENCHCTL_CHECK(metric_insert_.run_with(name, sample.unit, sample.better));
    metric_select_.bind_all(name, sample.unit, sample.better);
    BENCHCTL_TRY(int64_t id, only(metric_select_));
    metrics_.emplace(metric_key_, id);
    return id;
  }

 private:
  Names(sqlite::Statement insert, sqlite::Statement select, sqlite::Statement metric_insert,
        sqlite::Statement metric_select)
      : insert_(std::move(insert)),
        select_(std::move(select)),
        metric_insert_(std::move(metric_insert)),
        metric_select_(std::move(metric_select)) {}

  static Result<int64_t> only(sqlite::Statement& select) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return Error{ErrorKind::kInternal, "store: a name that was just written is not there"};
    int64_t id = select.integer(0);
    select.reset();
    return id;
  }

  sqlite::Statement insert_, select_, metric_insert_, metric_select_;
  Ids ids_, metrics_;
  std::string metric_key_;  // kept for its memory
};

class Importer {
 public:
  static Result<Importer> make(sqlite::Database& database, Failpoints& failpoints, const ImportPlace& place) {
    BENCHCTL_TRY(auto names, Names::make(database));
    BENCHCTL_TRY(auto find,
                 database.prepare("SELECT evidence FROM trial WHERE site = ?1 AND ((number = ?2 AND attempt = ?3) OR "
                                  "(point_hash = ?4 AND arm = ?5 AND aa_copy = ?6 AND round = ?7 AND attempt = ?3))"));
    BENCHCTL_TRY(auto trial,
                 database.prepare("INSERT INTO trial (site, number, suite, point_hash, arm, aa_copy, round, "
                                  "position, attempt, definition_hash, bundle, params, state, verdict, "
                                  "reason, evidence, folder) "
                                  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'ingested', ?, ?, ?, ?)"));
    BENCHCTL_TRY(
        auto on_machine,
        database.prepare("INSERT INTO trial_machine (trial, role, machine, started_ms, seconds, steal_percent, "
                         "steal_note, record) VALUES (?, 'runner', ?, ?, ?, ?, ?, ?)"));
    BENCHCTL_TRY(auto sample, database.prepare("INSERT INTO sample (trial, case_id, metric_id, iteration, value, "
                                               "check_text) VALUES (?, ?, ?, ?, ?, ?)"));
    BENCHCTL_TRY(auto histogram, database.prepare("INSERT INTO histogram (trial, case_id, file) VALUES (?, ?, ?)"));
    BENCHCTL_TRY(auto file_find, database.prepare("SELECT sha256 FROM file WHERE machine = ? AND path = ?"));
    BENCHCTL_TRY(auto file, database.prepare("INSERT INTO file (machine, path, sha256, size) VALUES (?, ?, ?, ?)"));
    Importer importer(database, failpoints, place, std::move(names),
                      {std::move(find), std::move(trial), std::move(on_machine), std::move(sample),
                       std::move(histogram), std::move(file_find), std::move(file)});
    BENCHCTL_CHECK(importer.take_site());
    return importer;
  }

  Status add_trial(int unit_dir, const RawTrial& raw, const Expectations& expectations, UnitResult& result) {
    BENCHCTL_CHECK(failpoints_->reach("import:trial"));
    auto read = read_trial(unit_dir, raw, expectations);
    if (!read && read.error().kind == ErrorKind::kRejected) {
      result.refused.push_back({raw.key.first, raw.key.second, read.error().message});
      return {};
    }
    if (!read) return read.error();
    std::string evidence = evidence_of(raw);
    BENCHCTL_TRY(Standing standing, look_up(read->record.spec, read->point_hash, evidence));
    if (standing == Standing::kSame) {
      ++result.trials_same;
      return {};
    }
    if (standing == Standing::kDiffers) {
      result.refused.push_back({raw.key.first, raw.key.second,
                                raw.folder + ": already in the store with other content; the first one stands"});
      return {};
    }
    BENCHCTL_CHECK(insert(raw, *read, evidence));
    ++result.trials_new;
    result.samples_new += static_cast<int64_t>(read->samples.size());
    if (read->verdict == "malformed") result.malformed.push_back({raw.key.first, raw.key.second, read->reason});
    return {};
  }

  // A file that has no trial: facts, events, steal.csv.
  Status add_other(const PackEntry& entry, UnitResult& result) {
    BENCHCTL_TRY(bool taken, add_file(entry));
    if (!taken)
      result.refused.push_back(
          {0, 0, sanitize(entry.path, 200) + ": already in the store with other content; the first one stands"});
    return {};
  }

 private:
  enum class Standing { kNew, kSame, kDiffers };
  struct Statements {
    sqlite::Statement find, trial, on_machine, sample, histogram, file_find, file;
  };

  Importer(sqlite::Database& database, Failpoints& failpoints, const ImportPlace& place, Names names, Statements sql)
      : database_(&database), failpoints_(&failpoints), place_(place), names_(std::move(names)), sql_(std::move(sql)) {}

  Status take_site() {
    BENCHCTL_CHECK(database_->run("INSERT OR IGNORE INTO site (run, fleet, slot) VALUES (?, ?, ?)", place_.run,
                                  place_.fleet, place_.slot));
    BENCHCTL_TRY(auto select, database_->query("SELECT id FROM site WHERE run = ? AND fleet = ? AND slot = ?",
                                               place_.run, place_.fleet, place_.slot));
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return Error{ErrorKind::kInternal, "store: a site that was just written is not there"};
    site_ = select.integer(0);
    return {};
  }

  Result<Standing> look_up(const TrialSpec& spec, const std::string& point, const std::string& evidence) {
    BENCHCTL_TRY(int64_t arm, names_.id(spec.arm));
    sql_.find.bind_all(site_, spec.trial, spec.attempt, point, arm, spec.aa_copy, spec.round);
    auto standing = Standing::kNew;
    while (true) {
      BENCHCTL_TRY(bool row, sql_.find.step());
      if (!row) return standing;
      if (standing != Standing::kDiffers)
        standing = sql_.find.text(0) == evidence ? Standing::kSame : Standing::kDiffers;
    }
  }

  Status insert(const RawTrial& raw, const ReadTrial& read, const std::string& evidence) {
    const TrialSpec& spec = read.record.spec;
    BENCHCTL_TRY(int64_t suite, names_.id(spec.suite));
    BENCHCTL_TRY(int64_t arm, names_.id(spec.arm));
    Json params = Json::object();
    for (const auto& [key, value] : spec.params) params.set(key, value);
    if (auto added = sql_.trial.run_with(site_, spec.trial, suite, read.point_hash, arm, spec.aa_copy, spec.round,
                                         spec.position, spec.attempt, spec.definition_hash, spec.bundle, params.dump(),
                                         read.verdict, read.reason, evidence, home(raw.folder));
        !added)
      return added.error().in(raw.folder);
    int64_t id = database_->last_id();
    const TrialRecord& record = read.record;
    BENCHCTL_CHECK(sql_.on_machine.run_with(id, place_.machine, record.started_unix_ms,
                                            static_cast<double>(record.wall_ns) / 1e9, record.steal_percent,
                                            record.steal_note, to_json(record).dump()));
    BENCHCTL_CHECK(insert_samples(id, read.samples));
    for (const auto& [case_name, entry] : read.histograms) {
      BENCHCTL_TRY(int64_t case_id, names_.id(case_name));
      BENCHCTL_CHECK(sql_.histogram.run_with(id, case_id, home(entry->path)));
    }
    for (const PackEntry* entry : raw.entries) BENCHCTL_CHECK(add_file(*entry));
    return {};
  }

  // In the order of the key, so that the table only grows at its end.
  Status insert_samples(int64_t trial, const std::vector<ResultSample>& samples) {
    struct Place {
      int64_t case_id, metric_id;
      int iteration;
      const ResultSample* sample;
      auto key() const { return std::tie(case_id, metric_id, iteration); }
    };
    std::vector<Place> places;
    places.reserve(samples.size());
    for (const ResultSample& sample : samples) {
      BENCHCTL_TRY(int64_t case_id, names_.id(sample.case_name));
      BENCHCTL_TRY(int64_t metric_id, names_.metric(sample));
      places.push_back({case_id, metric_id, sample.iteration, &sample});
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.key() < b.key(); });
    sql_.sample.bind(1, trial);
    for (const Place& place : places) {
      sql_.sample.bind(2, place.case_id);
      sql_.sample.bind(3, place.metric_id);
      sql_.sample.bind(4, place.iteration);
      sql_.sample.bind(5, place.sample->value);
      if (place.sample->check) {
        sql_.sample.bind_view(6, *place.sample->check);
      } else {
        sql_.sample.bind(6, std::nullopt);
      }
      BENCHCTL_CHECK(sql_.sample.run());
    }
    return {};
  }

  // False: another file stands under this path; that one stays.
  Result<bool> add_file(const PackEntry& entry) {
    std::string path = home(entry.path);
    sql_.file_find.bind_all(place_.machine, path);
    BENCHCTL_TRY(bool row, sql_.file_find.step());
    if (row) {
      bool same = sql_.file_find.text(0) == entry.sha256;
      sql_.file_find.reset();
      return same;
    }
    BENCHCTL_CHECK(sql_.file.run_with(place_.machine, path, entry.sha256, entry.size));
    return true;
  }

  std::string home(const std::string& in_unit) const { return place_.unit_folder + "/" + in_unit; }

  sqlite::Database* database_;
  Failpoints* failpoints_;
  ImportPlace place_;
  Names names_;
  Statements sql_;
  int64_t site_ = 0;
};

}  // namespace

Result<UnitResult> import_unit_rows(sqlite::Database& database, Failpoints& failpoints, const ImportPlace& place,
                                    const UnitSource& unit) {
  BENCHCTL_TRY(UniqueFd dir, open_dir(unit.folder));
  BENCHCTL_TRY(auto importer, Importer::make(database, failpoints, place));
  UnitResult result;
  RawUnit raw = group_by_trial(unit.entries);
  result.refused = raw.strays;
  Expectations expectations(unit.expected);
  for (const RawTrial& trial : raw.trials) BENCHCTL_CHECK(importer.add_trial(dir.get(), trial, expectations, result));
  for (const PackEntry* entry : raw.others) BENCHCTL_CHECK(importer.add_other(*entry, result));
  return result;
}

}  // namespace benchctl
