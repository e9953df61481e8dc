#include "controller/store/records.h"

#include <vector>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int kRecordVersion = 1;

Result<Json> rows_of(sqlite::Statement select) {
  Json rows = Json::array();
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return rows;
    Json one = Json::object();
    for (int i = 0; i < select.columns(); ++i) {
      Json value;
      if (select.is_integer(i)) {
        value = select.integer(i);
      } else if (select.is_real(i)) {
        value = select.real(i);
      } else if (!select.is_null(i)) {
        value = select.text(i);
      }
      one.set(select.column_name(i), std::move(value));
    }
    rows.push(std::move(one));
  }
}

Result<std::vector<std::string>> columns_of(sqlite::Database& database, const std::string& table) {
  std::vector<std::string> columns;
  BENCHCTL_TRY(auto select, database.query("SELECT name FROM pragma_table_info(?) ORDER BY cid", table));
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return columns;
    columns.push_back(select.text(0));
  }
}

// Only columns that the table has are taken, by our own list of them: a record's keys never become SQL.
Status insert_rows(sqlite::Database& database, const std::string& table, const Json& rows) {
  BENCHCTL_TRY(auto columns, columns_of(database, table));
  std::vector<std::string> marks(columns.size(), "?");
  BENCHCTL_TRY(auto insert, database.prepare("INSERT OR IGNORE INTO " + table + " (" + join(columns, ", ") +
                                             ") VALUES (" + join(marks, ", ") + ")"));
  for (const Json& row : rows.as_array()) {
    int index = 0;
    for (const std::string& column : columns) {
      const Json& value = row[column];
      ++index;
      if (value.is_int()) {
        insert.bind(index, value.as_int());
      } else if (value.is_number()) {
        insert.bind(index, value.as_double());
      } else if (value.is_string()) {
        insert.bind(index, value.as_string());
      } else {
        insert.bind(index, std::nullopt);
      }
    }
    BENCHCTL_CHECK(insert.run());
  }
  return {};
}

Result<std::string> text_of(sqlite::Statement select) {
  BENCHCTL_TRY(bool row, select.step());
  if (!row) return Error{ErrorKind::kUsage, "store: no such run or machine"};
  return select.text(0);
}

Status write_record(const std::string& folder, const std::string& name, Json record) {
  record.set("version", kRecordVersion);
  if (auto made = make_dirs(records_dir(folder)); !made) return made;
  return write_atomic(records_dir(folder) + "/" + name, record.dump_pretty() + "\n");
}

Status check_version(const Json& record) {
  BENCHCTL_TRY(int64_t version, record.need_int("version"));
  if (version != kRecordVersion)
    return Error{ErrorKind::kUsage, "a record of version " + std::to_string(version) +
                                        ", this benchctl knows version " + std::to_string(kRecordVersion)};
  return {};
}

}  // namespace

std::string records_dir(const std::string& run_folder) {
  return run_folder + "/records";
}

Status write_run_record(sqlite::Database& database, const std::string& run) {
  Json record = Json::object();
  BENCHCTL_TRY(auto folder, database.query("SELECT folder FROM run WHERE id = ?", run));
  BENCHCTL_TRY(std::string path, text_of(std::move(folder)));
  BENCHCTL_TRY(std::string owner, database.text("SELECT uuid FROM owner"));
  record.set("owner", owner);
  BENCHCTL_TRY(auto runs, database.query("SELECT * FROM run WHERE id = ?", run));
  BENCHCTL_TRY(Json run_rows, rows_of(std::move(runs)));
  record.set("run", std::move(run_rows));
  BENCHCTL_TRY(auto traces, database.query("SELECT suite, arm, sha256, info FROM v_traces WHERE run = ?", run));
  BENCHCTL_TRY(Json trace_rows, rows_of(std::move(traces)));
  record.set("trace", std::move(trace_rows));
  return write_record(path, "run.json", std::move(record));
}

Status write_machine_record(sqlite::Database& database, int64_t machine) {
  static constexpr std::pair<const char*, const char*> kParts[] = {
      {"lease", "SELECT l.* FROM lease l JOIN machine m ON m.lease = l.nonce WHERE m.id = ?"},
      {"machine", "SELECT * FROM machine WHERE id = ?"},
      {"step", "SELECT * FROM step WHERE machine = ? ORDER BY seq"},
      {"unit", "SELECT * FROM unit WHERE machine = ? ORDER BY seq"},
      {"left_out", "SELECT suite, arm, kind, reason FROM v_left_out WHERE machine_id = ? ORDER BY suite, arm"},
      {"point",
       "SELECT * FROM point WHERE hash IN (SELECT t.point_hash FROM trial t JOIN site s ON s.id = t.site JOIN lease l "
       "ON l.run = s.run AND l.fleet = s.fleet AND l.slot = s.slot JOIN machine m ON m.lease = l.nonce WHERE m.id = "
       "?)"},
      {"bundle",
       "SELECT * FROM bundle WHERE sha256 IN (SELECT t.bundle FROM trial t JOIN site s ON s.id = t.site JOIN lease l "
       "ON l.run = s.run AND l.fleet = s.fleet AND l.slot = s.slot JOIN machine m ON m.lease = l.nonce WHERE m.id = "
       "?)"},
  };
  Json record = Json::object();
  for (const auto& [table, sql] : kParts) {
    BENCHCTL_TRY(auto select, database.query(sql, machine));
    BENCHCTL_TRY(Json rows, rows_of(std::move(select)));
    record.set(table, std::move(rows));
  }
  BENCHCTL_TRY(auto folder,
               database.query("SELECT r.folder FROM run r JOIN machine m ON m.run = r.id WHERE m.id = ?", machine));
  BENCHCTL_TRY(std::string path, text_of(std::move(folder)));
  const Json::Array& leases = record["lease"].as_array();
  if (leases.size() != 1) return Error{ErrorKind::kInternal, "store: a machine without a lease"};
  std::string name = leases[0]["nonce"].as_string() + ".json";
  return write_record(path, name, std::move(record));
}

Status restore_run(sqlite::Database& database, const Json& record, const std::string& run_folder) {
  BENCHCTL_CHECK(check_version(record));
  if (record["run"].as_array().size() != 1) return Error{ErrorKind::kUsage, "run.json without its run"};
  std::string run = record["run"].as_array()[0]["id"].as_string();
  if (!valid_id(run)) return Error{ErrorKind::kUsage, "run.json with a bad run id"};
  BENCHCTL_TRY(int64_t known, database.integer("SELECT count(*) FROM run"));
  if (known == 0 && !record["owner"].as_string().empty())
    BENCHCTL_CHECK(database.run("UPDATE owner SET uuid = ?", record["owner"].as_string()));
  BENCHCTL_CHECK(insert_rows(database, "run", record["run"]));
  // The folder may have been moved since.
  BENCHCTL_CHECK(database.run("UPDATE run SET folder = ? WHERE id = ?", run_folder, run));
  for (const Json& trace : record["trace"].as_array()) {
    for (const char* key : {"suite", "arm"})
      BENCHCTL_CHECK(database.run("INSERT OR IGNORE INTO name (text) VALUES (?)", trace[key].as_string()));
    BENCHCTL_CHECK(database.run(
        "INSERT OR IGNORE INTO trace (run, suite, arm, sha256, info) VALUES (?, (SELECT id FROM name WHERE text = ?), "
        "(SELECT id FROM name WHERE text = ?), ?, ?)",
        run, trace["suite"].as_string(), trace["arm"].as_string(), trace["sha256"].as_string(),
        trace["info"].as_string()));
  }
  return {};
}

Result<int64_t> restore_machine(sqlite::Database& database, const Json& record) {
  BENCHCTL_CHECK(check_version(record));
  if (record["machine"].as_array().size() != 1)
    return Error{ErrorKind::kUsage, "a machine's record without its machine"};
  Json machine = record["machine"].as_array()[0];
  BENCHCTL_CHECK(insert_rows(database, "lease", record["lease"]));
  BENCHCTL_CHECK(insert_rows(database, "point", record["point"]));
  BENCHCTL_CHECK(insert_rows(database, "bundle", record["bundle"]));
  machine.set("id", Json());  // null: the next free one
  BENCHCTL_CHECK(insert_rows(database, "machine", Json(Json::Array{machine})));
  BENCHCTL_TRY(auto select, database.query("SELECT id FROM machine WHERE lease = ?", machine["lease"].as_string()));
  BENCHCTL_TRY(bool row, select.step());
  if (!row) return Error{ErrorKind::kUsage, "a machine's record that does not fit its run"};
  int64_t id = select.integer(0);
  Json steps = Json::array();
  for (Json step : record["step"].as_array()) {
    step.set("machine", id);
    steps.push(std::move(step));
  }
  BENCHCTL_CHECK(insert_rows(database, "step", steps));
  for (const Json& left : record["left_out"].as_array()) {
    for (const char* key : {"suite", "arm"})
      BENCHCTL_CHECK(database.run("INSERT OR IGNORE INTO name (text) VALUES (?)", left[key].as_string()));
    BENCHCTL_CHECK(database.run(
        "INSERT OR IGNORE INTO left_out (machine, suite, arm, kind, reason) VALUES (?, (SELECT id FROM name WHERE text "
        "= ?), (SELECT id FROM name WHERE text = ?), ?, ?)",
        id, left["suite"].as_string(), left["arm"].as_string(), left["kind"].as_string(), left["reason"].as_string()));
  }
  return id;
}

}  // namespace benchctl
