/* Where sorting, grouping and temporary tables keep what does not fit into the cache. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_costs.h"

/* A key is half of a random number in digits and a tail; 100 bytes, so that 100,000 of them are five caches. */
enum { KEY_DIGITS = 8, KEY_BYTES = 100, KEY_SEED = 23, GROUPS = 5000 };

static void write_key(char* key, struct random* random) {
  snprintf(key, KEY_BYTES + 1, "%08llx", (unsigned long long)(random_next(random) >> 32));
  memset(key + KEY_DIGITS, 'x', KEY_BYTES - KEY_DIGITS);
}

static int64_t group_of(int64_t id) {
  return id * 7919 % GROUPS;
}

/* Fills t and gives the sum of the digests of its keys. */
static uint64_t fill(sqlite3* db, int64_t rows) {
  run_sql(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, grp INTEGER, k TEXT)");
  run_sql(db, "BEGIN");
  sqlite3_stmt* insert = prepare(db, "INSERT INTO t VALUES(?1, ?2, ?3)");
  struct random random = {.state = KEY_SEED};
  uint64_t keys = 0;
  for (int64_t id = 1; id <= rows; id++) {
    char key[KEY_BYTES + 1];
    write_key(key, &random);
    keys += digest_bytes(DIGEST_START, key, KEY_BYTES);
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_int64(insert, 2, group_of(id));
    sqlite3_bind_text(insert, 3, key, KEY_BYTES, SQLITE_STATIC);
    run_statement(insert);
  }
  sqlite3_finalize(insert);
  run_sql(db, "COMMIT");
  return keys;
}

/* Every key once, and none before a smaller one. */
static void order_by(sqlite3* db, const struct options* options, uint64_t keys) {
  sqlite3_stmt* statement = prepare(db, "SELECT k FROM t ORDER BY k");
  struct work work = {0};
  char last[KEY_BYTES] = "";
  uint64_t found = 0;
  start_work(&work);
  while (next_row(statement)) {
    const void* key = sqlite3_column_text(statement, 0);
    if (sqlite3_column_bytes(statement, 0) != KEY_BYTES || memcmp(key, last, KEY_BYTES) < 0)
      fail("temp_store/order_by: out of order");
    memcpy(last, key, KEY_BYTES);
    found += digest_bytes(DIGEST_START, key, KEY_BYTES);
  }
  stop_work(&work);
  sqlite3_finalize(statement);
  must_equal("temp_store/order_by", found, keys);
  print_work("temp_store/order_by", &work, options->items, options->measure, found);
}

struct group {
  int64_t number, count, sum;
  char largest[KEY_BYTES + 1];
};

static uint64_t group_check(const struct group* group) {
  uint64_t digest = digest_number(digest_number(digest_number(DIGEST_START, group->number), group->count), group->sum);
  return digest_row_end(digest_column(digest, group->largest, KEY_BYTES));
}

static uint64_t expected_groups(int64_t rows) {
  struct group* groups = allocate(GROUPS, sizeof *groups);
  struct random random = {.state = KEY_SEED};
  for (int64_t id = 1; id <= rows; id++) {
    struct group* group = &groups[group_of(id)];
    char key[KEY_BYTES + 1];
    write_key(key, &random);
    group->number = group_of(id);
    group->count++;
    group->sum += id;
    if (memcmp(key, group->largest, KEY_BYTES) > 0) memcpy(group->largest, key, sizeof key);
  }
  uint64_t check = 0;
  for (int64_t i = 0; i < GROUPS; i++)
    if (groups[i].count) check += group_check(&groups[i]);
  free(groups);
  return check;
}

/* max(k) makes the keys pass through the sorter that groups. */
static void group_by(sqlite3* db, const struct options* options) {
  sqlite3_stmt* statement = prepare(db, "SELECT grp, count(*), sum(id), max(k) FROM t GROUP BY grp");
  struct work work = {0};
  uint64_t found = 0;
  start_work(&work);
  while (next_row(statement)) {
    struct group group = {.number = sqlite3_column_int64(statement, 0),
                          .count = sqlite3_column_int64(statement, 1),
                          .sum = sqlite3_column_int64(statement, 2)};
    snprintf(group.largest, sizeof group.largest, "%s", (const char*)sqlite3_column_text(statement, 3));
    found += group_check(&group);
  }
  stop_work(&work);
  sqlite3_finalize(statement);
  must_equal("temp_store/group_by", found, expected_groups(options->items));
  print_work("temp_store/group_by", &work, options->items, options->measure, found);
}

static void temp_table(sqlite3* db, const struct options* options, uint64_t keys) {
  struct work work = {0};
  start_work(&work);
  run_sql(db, "CREATE TEMP TABLE copy AS SELECT id, k FROM t; CREATE INDEX temp.copy_k ON copy(k)");
  stop_work(&work);
  sqlite3_stmt* statement = prepare(db, "SELECT k FROM copy INDEXED BY copy_k ORDER BY k");
  uint64_t found = 0;
  while (next_row(statement)) {
    const void* key = sqlite3_column_text(statement, 0);
    found += digest_bytes(DIGEST_START, key, (size_t)sqlite3_column_bytes(statement, 0));
  }
  sqlite3_finalize(statement);
  must_equal("temp_store/temp_table", found, keys);
  print_work("temp_store/temp_table", &work, options->items, options->measure, found);
}

void run_temp_store(const struct options* options) {
  sqlite3* db = open_database(DATABASE_FILE, options->regime);
  run_sql(db, options->arm == ARM_temp_memory ? "PRAGMA temp_store=MEMORY" : "PRAGMA temp_store=FILE");
  uint64_t keys = fill(db, options->items);
  order_by(db, options, keys);
  group_by(db, options);
  temp_table(db, options, keys);
  close_database(db);
}
