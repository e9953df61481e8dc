#include <stdio.h>

#include "bench.h"
#include "bulk_load.h"
#include "checkpoints.h"
#include "comments.h"

static int log_statement(unsigned kind, void* context, void* statement, void* sql) {
  (void)kind;
  (void)context;
  (void)statement;
  fprintf(stderr, "%s\n", (const char*)sql);
  return 0;
}

static sqlite3* open_file(const char* vfs) {
  sqlite3* db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  must_be_ok(db, sqlite3_open_v2(DATABASE_FILE, &db, flags, vfs), DATABASE_FILE);
  sqlite3_extended_result_codes(db, 1);
  return db;
}

sqlite3* open_for_load(const struct options* options) {
  sqlite3* db = open_file(WATCHING_VFS);
  if (options->log_sql) sqlite3_trace_v2(db, SQLITE_TRACE_STMT, log_statement, NULL);
  set_journal_mode(db, "wal");
  run_sql(db, options->full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
  if (options->autocheckpoint >= 0) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA wal_autocheckpoint=%lld", (long long)options->autocheckpoint);
    must_equal(sql, (uint64_t)query_number(db, sql), (uint64_t)options->autocheckpoint);
  }
  return db;
}

sqlite3* open_for_reads(void) {
  return open_file(NULL);
}

sqlite3_stmt* prepare_read(sqlite3* db) {
  return prepare(db, "SELECT creator, created FROM comment WHERE id = ?1");
}

void read_comment(sqlite3_stmt* select, int64_t row) {
  struct comment comment = comment_of(row);
  sqlite3_bind_text(select, 1, comment.id, ID_BYTES, SQLITE_STATIC);
  if (!next_row(select)) fail("row %lld cannot be read", (long long)row);
  if (sqlite3_column_int64(select, 0) != comment.creator || sqlite3_column_int64(select, 1) != comment.created)
    fail("row %lld was read with wrong values", (long long)row);
  sqlite3_reset(select);
}
