/* Point reads in random order, with and without mmap and a large page cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_costs.h"

enum { PAYLOAD_WORDS = 25 };
/* A row of this table with its header and its share of page slack, measured: 234 bytes a row in a file of 45 MB. */
static const int64_t bytes_a_row = 234;
static const int64_t mmap_bytes = INT64_C(512) << 20;

struct content {
  uint64_t words[PAYLOAD_WORDS];
};

static struct content content_of(int64_t id) {
  struct content content;
  struct random random = {.state = (uint64_t)id};
  for (int i = 0; i < PAYLOAD_WORDS; i++) content.words[i] = random_next(&random);
  return content;
}

static uint64_t part_of_check(const struct content* content) {
  return content->words[0] ^ content->words[PAYLOAD_WORDS - 1];
}

static void fill(sqlite3* db, int64_t rows) {
  run_sql(db, "CREATE TABLE items(id INTEGER PRIMARY KEY, payload BLOB)");
  run_sql(db, "BEGIN");
  sqlite3_stmt* insert = prepare(db, "INSERT INTO items VALUES(?1, ?2)");
  for (int64_t id = 1; id <= rows; id++) {
    struct content content = content_of(id);
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_blob(insert, 2, &content, sizeof content, SQLITE_STATIC);
    run_statement(insert);
  }
  sqlite3_finalize(insert);
  run_sql(db, "COMMIT");
}

static void apply_arm(sqlite3* db, const struct options* options) {
  const bool maps = options->arm == ARM_mmap || options->arm == ARM_mmap_cache;
  const bool caches = options->arm == ARM_cache || options->arm == ARM_mmap_cache;
  if (caches) run_sql(db, "PRAGMA cache_size=-131072");
  if (!maps || options->regime == IN_MEMORY) return;
  if (query_number(db, "PRAGMA mmap_size=536870912") != mmap_bytes) fail("this SQLite maps no 512 MB");
}

static void read_all(const char* name, sqlite3* db, const struct options* options, const int64_t* ids) {
  sqlite3_stmt* select = prepare(db, "SELECT payload FROM items WHERE id = ?1");
  struct work work = {0};
  uint64_t check = 0, expected = 0;
  start_work(&work);
  if (options->held) run_sql(db, "BEGIN");
  for (int64_t i = 0; i < options->items; i++) {
    struct content content;
    sqlite3_bind_int64(select, 1, ids[i]);
    if (!next_row(select) || sqlite3_column_bytes(select, 0) != sizeof content)
      fail("row %lld is not there", (long long)ids[i]);
    memcpy(&content, sqlite3_column_blob(select, 0), sizeof content);
    check += part_of_check(&content);
    sqlite3_reset(select);
  }
  if (options->held) run_sql(db, "COMMIT");
  stop_work(&work);
  sqlite3_finalize(select);
  for (int64_t i = 0; i < options->items; i++) {
    struct content content = content_of(ids[i]);
    expected += part_of_check(&content);
  }
  must_equal(name, check, expected);
  print_work(name, &work, options->items, options->measure, check);
}

void run_random_read(const struct options* options) {
  const int64_t rows = options->megabytes * 1000000 / bytes_a_row;
  sqlite3* db = open_database(DATABASE_FILE, options->regime);
  fill(db, rows);
  int64_t* ids = allocate((size_t)options->items, sizeof *ids);
  struct random random = {.state = 7};
  for (int64_t i = 0; i < options->items; i++) ids[i] = random_between(&random, 1, rows);
  if (options->regime != IN_MEMORY) { /* a fresh connection, whose own cache is empty; the system's is not */
    close_database(db);
    db = open_database(DATABASE_FILE, options->regime);
  }
  apply_arm(db, options);
  read_all("random_read/cold", db, options, ids);
  read_all("random_read/warm", db, options, ids);
  free(ids);
  close_database(db);
}
