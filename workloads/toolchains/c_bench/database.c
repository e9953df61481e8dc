#include "database.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

const char* const regime_names[] = {"delete_full", "wal_normal", "memory", NULL};

void must_be_ok(sqlite3* db, int rc, const char* what) {
  if (rc == SQLITE_OK) return;
  fail("%s: %s (SQLite error %d)", what, db ? sqlite3_errmsg(db) : sqlite3_errstr(rc), rc);
}

void set_journal_mode(sqlite3* db, const char* mode) {
  char sql[64];
  snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", mode);
  sqlite3_stmt* statement = prepare(db, sql);
  const char* now = next_row(statement) ? (const char*)sqlite3_column_text(statement, 0) : "";
  if (strcmp(now, mode) != 0) fail("journal_mode is %s, not %s", now, mode);
  sqlite3_finalize(statement);
}

sqlite3* open_database(const char* path, enum regime regime) {
  sqlite3* db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  must_be_ok(db, sqlite3_open_v2(regime == IN_MEMORY ? ":memory:" : path, &db, flags, NULL), path);
  sqlite3_extended_result_codes(db, 1);
  if (regime == IN_MEMORY) return db;
  set_journal_mode(db, regime == DELETE_FULL ? "delete" : "wal");
  run_sql(db, regime == DELETE_FULL ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  return db;
}

void close_database(sqlite3* db) {
  must_be_ok(db, sqlite3_close(db), "close");
}

void remove_database(const char* path) {
  static const char* const suffixes[] = {"", "-journal", "-wal", "-shm"};
  for (int i = 0; i < 4; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
    unlink(name);
  }
}

void run_sql(sqlite3* db, const char* sql) {
  must_be_ok(db, sqlite3_exec(db, sql, NULL, NULL, NULL), sql);
}

sqlite3_stmt* prepare(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = NULL;
  must_be_ok(db, sqlite3_prepare_v2(db, sql, -1, &statement, NULL), sql);
  return statement;
}

bool next_row(sqlite3_stmt* statement) {
  int rc = sqlite3_step(statement);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) must_be_ok(sqlite3_db_handle(statement), rc, sqlite3_sql(statement));
  return rc == SQLITE_ROW;
}

void run_statement(sqlite3_stmt* statement) {
  if (next_row(statement)) fail("%s: gives rows", sqlite3_sql(statement));
  sqlite3_reset(statement);
}

int64_t query_number(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = prepare(db, sql);
  if (!next_row(statement)) fail("%s: gives no row", sql);
  int64_t number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return number;
}
