#include "controller/store/sqlite_store.h"

#include <unistd.h>

#include "controller/store/records.h"
#include "lib/text.h"

namespace benchctl {
namespace {

NoFailpoints no_failpoints;

std::string new_uuid() {
  std::string hex = random_hex(16);
  hex[12] = '4';  // version 4, variant 1 (RFC 4122)
  hex[16] = "89ab"[hex[16] % 4];
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20);
}

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? sanitize(name, 100) : "?";
}

Result<FileLock> take_lock(const std::string& store, const std::string& who, Clock& clock) {
  std::string holder =
      who + ", pid " + std::to_string(getpid()) + " on " + host_name() + ", since " + format_utc(clock.unix_ms());
  auto lock = FileLock::take(store + ".lock", holder);
  if (!lock && lock.error().kind == ErrorKind::kInterrupted)
    return Error{ErrorKind::kInterrupted, "store " + store + " is " + lock.error().message};
  return lock;
}

constexpr const char* kRunColumns =
    "SELECT id, plan_name, plan_sha256, plan_text, seed, created_ms, finished_ms, outcome, exit_code, reason, folder, "
    "controller_version FROM run ";

RunOutcome outcome_of(const std::string& name) {
  for (RunOutcome outcome : {RunOutcome::kGood, RunOutcome::kFailed, RunOutcome::kInterrupted})
    if (name == name_of(outcome)) return outcome;
  return RunOutcome::kRunning;
}

RunRow run_row(const sqlite::Statement& row) {
  RunRow run;
  run.id = row.text(0);
  run.plan_name = row.text(1);
  run.plan_sha256 = row.text(2);
  run.plan_text = row.text(3);
  run.seed = static_cast<uint64_t>(row.integer(4));
  run.created_ms = row.integer(5);
  run.finished_ms = row.maybe_integer(6);
  run.outcome = outcome_of(row.text(7));
  if (!row.is_null(8)) run.exit_code = row.small(8);
  run.reason = row.text(9);
  run.folder = row.text(10);
  run.controller_version = row.text(11);
  return run;
}

}  // namespace

Result<std::unique_ptr<Store>> open_store(const StoreOptions& options, Clock& clock) {
  BENCHCTL_TRY(auto store, SqliteStore::open(options, clock, store_migrations()));
  return std::unique_ptr<Store>(std::move(store));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const StoreOptions& options, Clock& clock,
                                                       const std::vector<Migration>& migrations) {
  if (size_t slash = options.path.rfind('/'); slash != std::string::npos && slash > 0)
    BENCHCTL_CHECK(make_dirs(options.path.substr(0, slash)));
  BENCHCTL_TRY(auto database, sqlite::Database::open(options.path));
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(database), clock, options.failpoints != nullptr ? options.failpoints : &no_failpoints));
  std::optional<FileLock> lock;
  BENCHCTL_CHECK(migrate(store->database_, migrations, [&]() -> Status {
    if (lock) return {};
    auto taken = take_lock(options.path, "a migration", clock);
    if (!taken) return taken.error().in("migration waits until no run is live");
    lock = *std::move(taken);
    return {};
  }));
  BENCHCTL_CHECK(store->database_.run("INSERT OR IGNORE INTO owner (one, uuid) VALUES (1, ?)", new_uuid()));
  return store;
}

Status SqliteStore::mutate(const std::function<Status()>& work) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto transaction, sqlite::Transaction::begin(database_));
  BENCHCTL_CHECK(work());
  return transaction.commit();
}

Result<std::string> SqliteStore::owner() {
  std::lock_guard guard(mutex_);
  return database_.text("SELECT uuid FROM owner");
}

Result<FileLock> SqliteStore::lock(const std::string& run) {
  return take_lock(path(), "run " + run, clock_);
}

Status SqliteStore::begin_run(const RunRow& run) {
  if (!valid_id(run.id))
    return Error{ErrorKind::kUsage, "run id \"" + sanitize(run.id, 80) + "\" is not [a-z0-9-]{1,64}"};
  if (!run.folder.starts_with('/'))
    return Error{ErrorKind::kInternal, "run " + run.id + ": its folder is not absolute"};
  BENCHCTL_CHECK(make_dirs(run.folder));
  return mutate([&]() -> Status {
    BENCHCTL_CHECK(
        database_.run("INSERT INTO run (id, plan_name, plan_sha256, plan_text, seed, created_ms, folder, "
                      "controller_version) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                      run.id, run.plan_name, run.plan_sha256, run.plan_text, static_cast<int64_t>(run.seed),
                      run.created_ms, run.folder, run.controller_version));
    return write_run_record(database_, run.id);
  });
}

Status SqliteStore::finish_run(const std::string& run, RunOutcome outcome, int exit_code, const std::string& reason) {
  return mutate([&]() -> Status {
    BENCHCTL_CHECK(database_.run("UPDATE run SET finished_ms = ?, outcome = ?, exit_code = ?, reason = ? WHERE id = ?",
                                 clock_.unix_ms(), name_of(outcome), exit_code, reason, run));
    if (database_.changes() != 1) return Error{ErrorKind::kUsage, "no run " + sanitize(run, 80)};
    return write_run_record(database_, run);
  });
}

Status SqliteStore::reopen_run(const std::string& run) {
  return mutate([&]() -> Status {
    BENCHCTL_CHECK(database_.run(
        "UPDATE run SET finished_ms = NULL, outcome = 'running', exit_code = NULL, reason = '' WHERE id = ?", run));
    if (database_.changes() != 1) return Error{ErrorKind::kUsage, "no run " + sanitize(run, 80)};
    return write_run_record(database_, run);
  });
}

Result<std::vector<RunRow>> SqliteStore::select_runs(sqlite::Statement select) {
  std::vector<RunRow> rows;
  while (true) {
    BENCHCTL_TRY(bool row, select.step());
    if (!row) return rows;
    rows.push_back(run_row(select));
  }
}

Result<RunRow> SqliteStore::run(const std::string& id) {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select, database_.query(std::string(kRunColumns) + "WHERE id = ?", id));
  BENCHCTL_TRY(auto found, select_runs(std::move(select)));
  if (!found.empty()) return found.front();
  std::vector<std::string> ids;
  BENCHCTL_TRY(auto all, database_.query("SELECT id FROM run ORDER BY created_ms DESC LIMIT 1000"));
  while (true) {
    BENCHCTL_TRY(bool row, all.step());
    if (!row) break;
    ids.push_back(all.text(0));
  }
  auto near = did_you_mean(id, ids);
  return Error{ErrorKind::kUsage,
               "no run " + sanitize(id, 80) + " in store " + path() + (near ? "; did you mean " + *near + "?" : "")};
}

Result<std::vector<RunRow>> SqliteStore::runs() {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select, database_.query(std::string(kRunColumns) + "ORDER BY created_ms DESC, rowid DESC"));
  return select_runs(std::move(select));
}

Result<std::optional<RunRow>> SqliteStore::latest_run() {
  std::lock_guard guard(mutex_);
  BENCHCTL_TRY(auto select, database_.query(std::string(kRunColumns) + "ORDER BY created_ms DESC, rowid DESC LIMIT 1"));
  BENCHCTL_TRY(auto found, select_runs(std::move(select)));
  return found.empty() ? std::nullopt : std::optional<RunRow>(std::move(found.front()));
}

}  // namespace benchctl
