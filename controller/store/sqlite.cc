#include "controller/store/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <unordered_map>

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl::sqlite {
namespace {

constexpr int kBusyMs = 5000;

}  // namespace

// Statements between two uses, by their text.
class IdleStatements {
 public:
  IdleStatements() = default;
  IdleStatements(const IdleStatements&) = delete;
  IdleStatements& operator=(const IdleStatements&) = delete;
  ~IdleStatements() {
    for (const auto& [sql, statement] : by_text_) sqlite3_finalize(statement);
  }

  sqlite3_stmt* take(const std::string& sql) {
    auto found = by_text_.find(sql);
    if (found == by_text_.end()) return nullptr;
    sqlite3_stmt* statement = found->second;
    by_text_.erase(found);
    return statement;
  }

  void keep(sqlite3_stmt* statement) {
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (by_text_.size() >= kMost || !by_text_.emplace(sqlite3_sql(statement), statement).second)
      sqlite3_finalize(statement);
  }

 private:
  static constexpr size_t kMost = 100;
  std::unordered_map<std::string, sqlite3_stmt*> by_text_;
};

Error damaged(const std::string& path, const std::string& finding) {
  return Error{ErrorKind::kInternal,
               "store " + path + " is damaged (" + sanitize(finding, 300) +
                   "): move it away, and a new one is begun; the raw files in the run folders hold "
                   "every result"};
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_error_(other.bind_error_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  if (this != &other) {
    let_go();
    database_ = other.database_;
    statement_ = std::exchange(other.statement_, nullptr);
    bind_error_ = other.bind_error_;
  }
  return *this;
}

Statement::~Statement() {
  let_go();
}

void Statement::let_go() {
  if (statement_ != nullptr) database_->idle_->keep(statement_);
}

void Statement::bind(int index, int64_t value) {
  if (int code = sqlite3_bind_int64(statement_, index, value); code != SQLITE_OK) bind_error_ = code;
}

void Statement::bind(int index, double value) {
  if (int code = sqlite3_bind_double(statement_, index, value); code != SQLITE_OK) bind_error_ = code;
}

void Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL, so an empty view is given an address.
  int code = sqlite3_bind_text64(statement_, index, value.empty() ? "" : value.data(), value.size(), SQLITE_TRANSIENT,
                                 SQLITE_UTF8);
  if (code != SQLITE_OK) bind_error_ = code;
}

void Statement::bind(int index, std::nullopt_t) {
  if (int code = sqlite3_bind_null(statement_, index); code != SQLITE_OK) bind_error_ = code;
}

void Statement::bind_view(int index, std::string_view value) {
  int code = sqlite3_bind_text64(statement_, index, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
  if (code != SQLITE_OK) bind_error_ = code;
}

Result<bool> Statement::step() {
  int code = bind_error_ != SQLITE_OK ? bind_error_ : sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_);
    return false;
  }
  Error error = database_->error(code);
  reset();
  return error;
}

Status Statement::run() {
  BENCHCTL_TRY(bool row, step());
  if (row) reset();
  return {};
}

void Statement::reset() {
  sqlite3_reset(statement_);
  bind_error_ = SQLITE_OK;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
}

bool Statement::is_real(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_FLOAT;
}

int Statement::columns() const {
  return sqlite3_column_count(statement_);
}

std::string Statement::column_name(int column) const {
  return sqlite3_column_name(statement_, column);
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(statement_, column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<int64_t> Statement::maybe_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Statement::maybe_real(int column) const {
  return is_null(column) ? std::nullopt : std::optional(real(column));
}

Database::Database(Database&& other) noexcept
    : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)), idle_(std::move(other.idle_)) {}

Database::Database(std::string path, sqlite3* handle)
    : path_(std::move(path)), handle_(handle), idle_(std::make_unique<IdleStatements>()) {}

Database::~Database() {
  idle_.reset();  // they hold the connection open
  sqlite3_close_v2(handle_);
}

Error Database::error(int code) const {
  std::string where = "store " + path_ + ": ";
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return Error{ErrorKind::kInternal, where +
                                             "no space left on its disk; nothing of this step was stored and what was "
                                             "stored before stands: free some space and run again"};
    case SQLITE_BUSY:
      return Error{ErrorKind::kInternal, where + "another process has been writing to it for more than " +
                                             std::to_string(kBusyMs / 1000) + " s: try again"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return damaged(path_, sqlite3_errstr(code));
    default: {
      std::string said = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
      if (int system = handle_ != nullptr ? sqlite3_system_errno(handle_) : 0;
          (code & 0xFF) == SQLITE_IOERR && system != 0) {
        errno = system;
        return errno_error(where + said);
      }
      return Error{ErrorKind::kInternal, where + said};
    }
  }
}

Result<Database> Database::open(const std::string& path) {
  {
    // Made here rather than by SQLite, so that no moment exists at which others can read it. Its -wal and -shm files
    // take over the mode.
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    struct stat st {};
    if (!fd || fstat(fd.get(), &st) != 0) return errno_error("open store " + path);
    if (!S_ISREG(st.st_mode)) return Error{ErrorKind::kUsage, "store " + path + ": not a regular file"};
    if ((st.st_mode & 07777) != 0600 && fchmod(fd.get(), 0600) != 0) return errno_error("chmod 0600 " + path);
  }
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(path, handle);
  if (code != SQLITE_OK) return database.error(code);
  BENCHCTL_CHECK(database.configure());
  return database;
}

Status Database::configure() {
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, kBusyMs);
  for (auto [option, value] : {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
                               std::pair(SQLITE_DBCONFIG_ENABLE_FKEY, 1), std::pair(SQLITE_DBCONFIG_DQS_DML, 0),
                               std::pair(SQLITE_DBCONFIG_DQS_DDL, 0)}) {
    if (int code = sqlite3_db_config(handle_, option, value, nullptr); code != SQLITE_OK) return error(code);
  }
  BENCHCTL_TRY(std::string mode, switch_to_wal());
  if (mode != "wal")
    return Error{ErrorKind::kInternal,
                 "store " + path_ + ": its file system cannot hold a WAL database (journal mode stays " + mode + ")"};
  return exec("PRAGMA synchronous=FULL; PRAGMA cell_size_check=ON; PRAGMA cache_size=-16384");
}

// The first switch of a new file wants it alone, and SQLite answers BUSY at once instead of waiting (it fears a
// deadlock with another process that switches), so the patience is ours.
Result<std::string> Database::switch_to_wal() {
  constexpr int kNapMs = 10;
  int code = SQLITE_OK;
  for (int waited = 0; waited <= kBusyMs; waited += kNapMs) {
    sqlite3_stmt* statement = nullptr;
    code = sqlite3_prepare_v3(handle_, "PRAGMA journal_mode=WAL", -1, 0, &statement, nullptr);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    Statement owned(this, statement);
    if (code == SQLITE_ROW) return owned.text(0);
    if ((code & 0xFF) != SQLITE_BUSY) break;
    sqlite3_sleep(kNapMs);
  }
  return error(code);
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = idle_->take(std::string(sql));
  if (statement != nullptr) return Statement(this, statement);
  int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                &statement, nullptr);
  if (code != SQLITE_OK) return error(code);
  return Statement(this, statement);
}

Status Database::exec(const std::string& sql) {
  if (int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr); code != SQLITE_OK) return error(code);
  return {};
}

Result<int64_t> Database::integer(std::string_view sql) const {
  BENCHCTL_TRY(Statement statement, prepare(sql));
  BENCHCTL_TRY(bool row, statement.step());
  if (!row) return Error{ErrorKind::kInternal, "store " + path_ + ": no row from " + std::string(sql)};
  return statement.integer(0);
}

Result<std::string> Database::text(std::string_view sql) const {
  BENCHCTL_TRY(Statement statement, prepare(sql));
  BENCHCTL_TRY(bool row, statement.step());
  if (!row) return Error{ErrorKind::kInternal, "store " + path_ + ": no row from " + std::string(sql)};
  return statement.text(0);
}

int64_t Database::changes() const {
  return sqlite3_changes(handle_);
}

int64_t Database::last_id() const {
  return sqlite3_last_insert_rowid(handle_);
}

Result<Transaction> Transaction::begin(Database& database) {
  BENCHCTL_CHECK(database.exec("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  // After some errors (a full disk) SQLite has rolled back by itself and this finds nothing to do.
  if (database_ != nullptr) (void)database_->exec("ROLLBACK").ok();
}

Status Transaction::commit() {
  BENCHCTL_CHECK(database_->exec("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace benchctl::sqlite
