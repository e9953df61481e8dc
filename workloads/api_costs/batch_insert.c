/* Rows in one transaction each, or all in one. */
#include <stdio.h>
#include <stdlib.h>

#include "api_costs.h"

enum { NAME_BYTES = 32 };
static const char payload[] = "payload payload payload payload";

static uint64_t expected_check(int64_t rows) {
  uint64_t digest = DIGEST_START;
  for (int64_t i = 1; i <= rows; i++) {
    char name[NAME_BYTES];
    size_t size = (size_t)snprintf(name, sizeof name, "name-%lld", (long long)i);
    digest = digest_number(digest, i);
    digest = digest_column(digest, name, size);
    digest = digest_column(digest, payload, sizeof payload - 1);
    digest = digest_row_end(digest);
  }
  return digest;
}

static uint64_t check_of(sqlite3* db, int64_t rows) {
  uint64_t digest = DIGEST_START;
  sqlite3_stmt* statement = prepare(db, "SELECT id, name, payload FROM t WHERE id <= ?1 ORDER BY id");
  sqlite3_bind_int64(statement, 1, rows);
  while (next_row(statement)) {
    digest = digest_number(digest, sqlite3_column_int64(statement, 0));
    for (int i = 1; i < 3; i++) {
      const void* text = sqlite3_column_text(statement, i);
      digest = digest_column(digest, text, (size_t)sqlite3_column_bytes(statement, i));
    }
    digest = digest_row_end(digest);
  }
  sqlite3_finalize(statement);
  return digest;
}

void run_batch_insert(const struct options* options) {
  const bool one = options->arm == ARM_one_transaction;
  const int64_t rows = one ? options->items : options->autocommit_items;
  sqlite3* db = open_database(DATABASE_FILE, options->regime);
  if (options->arm == ARM_autocommit_sync_off) run_sql(db, "PRAGMA synchronous=OFF");
  run_sql(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, payload TEXT)");
  char(*names)[NAME_BYTES] = allocate((size_t)rows, NAME_BYTES);
  for (int64_t i = 0; i < rows; i++) snprintf(names[i], NAME_BYTES, "name-%lld", (long long)(i + 1));
  sqlite3_stmt* insert = prepare(db, "INSERT INTO t(name, payload) VALUES(?1, ?2)");

  struct work work = {0};
  start_work(&work);
  if (one) run_sql(db, "BEGIN");
  for (int64_t i = 0; i < rows; i++) {
    sqlite3_bind_text(insert, 1, names[i], -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, payload, sizeof payload - 1, SQLITE_STATIC);
    run_statement(insert);
  }
  if (one) run_sql(db, "COMMIT");
  stop_work(&work);

  sqlite3_finalize(insert);
  must_equal("rows inserted", (uint64_t)query_number(db, "SELECT count(*) FROM t"), (uint64_t)rows);
  uint64_t check = check_of(db, options->autocommit_items);
  must_equal("batch_insert/insert", check, expected_check(options->autocommit_items));
  print_work("batch_insert/insert", &work, rows, options->measure, check);
  free(names);
  close_database(db);
}
