// A thin layer over SQLite's C API: handles that close themselves, typed binds and columns, errors as values that name
// the file. sqlite3.h is included by sqlite.cc alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace benchctl::sqlite {

class Database;
class IdleStatements;

// One prepared statement. Parameters and columns count from 1 and from 0, as in SQLite. A failed bind is reported by
// the next step(). Texts are copied unless bound by bind_view(), whose bytes must stay until the next step() is done.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  void bind(int index, int64_t value);
  void bind(int index, int value) { bind(index, int64_t{value}); }
  void bind(int index, bool value) { bind(index, int64_t{value ? 1 : 0}); }
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  void bind(int index, std::nullopt_t);
  template <typename T>
  void bind(int index, const std::optional<T>& value) {
    if (value) {
      bind(index, *value);
    } else {
      bind(index, std::nullopt);
    }
  }
  void bind_view(int index, std::string_view value);

  // True: a row stands ready. False: done, and the statement is reset for its next use.
  Result<bool> step();
  // Runs a statement that gives no rows.
  Status run();
  template <typename... Values>
  Status run_with(const Values&... values) {
    bind_all(values...);
    return run();
  }
  template <typename... Values>
  void bind_all(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
  }
  void reset();

  int columns() const;
  std::string column_name(int column) const;
  bool is_null(int column) const;
  bool is_integer(int column) const;
  bool is_real(int column) const;
  int64_t integer(int column) const;
  int small(int column) const { return static_cast<int>(integer(column)); }
  double real(int column) const;
  std::string text(int column) const;
  std::optional<int64_t> maybe_integer(int column) const;
  std::optional<double> maybe_real(int column) const;

 private:
  friend class Database;
  Statement(const Database* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}
  void let_go();

  const Database* database_;
  sqlite3_stmt* statement_;
  int bind_error_ = 0;
};

// A connection in WAL mode with synchronous=FULL, foreign keys, DEFENSIVE, no trusted schema, texts never taken for
// names, and 5 s of patience with other writers. Address-stable: it stays where open() made it, and outlives its
// statements. For one thread at a time.
class Database {
 public:
  // Creates the file with mode 0600 when absent; an existing one is set to 0600.
  static Result<Database> open(const std::string& path);
  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  const std::string& path() const { return path_; }
  Result<Statement> prepare(std::string_view sql) const;
  Status exec(const std::string& sql);  // any number of statements, rows ignored
  template <typename... Values>
  Status run(std::string_view sql, const Values&... values) {
    BENCHCTL_TRY(Statement statement, prepare(sql));
    return statement.run_with(values...);
  }
  template <typename... Values>
  Result<Statement> query(std::string_view sql, const Values&... values) const {
    BENCHCTL_TRY(Statement statement, prepare(sql));
    statement.bind_all(values...);
    return statement;
  }
  Result<int64_t> integer(std::string_view sql) const;  // the first column of the only row
  Result<std::string> text(std::string_view sql) const;
  int64_t changes() const;  // rows changed by the last statement
  int64_t last_id() const;

  Error error(int code) const;  // what SQLite's code means here and what to do

 private:
  Database(std::string path, sqlite3* handle);
  Status configure();
  Result<std::string> switch_to_wal();

  friend class Statement;
  std::string path_;
  sqlite3* handle_;
  std::unique_ptr<IdleStatements> idle_;  // to parse a text again costs more than most of what it asks for
};

// BEGIN IMMEDIATE; rolled back when it goes out of scope without commit().
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;
};

// The error for a file that SQLite finds damaged: names the way back.
Error damaged(const std::string& path, const std::string& finding);

}  // namespace benchctl::sqlite
