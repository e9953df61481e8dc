/* A statement prepared for each use, or kept and reset. */
#include "api_costs.h"

enum { TABLE_ROWS = 1000, FETCHED_ROWS = 50 };
static const char point_sql[] = "SELECT id, name FROM t WHERE id = ?1";
static const char fetch_sql[] = "SELECT id, name FROM t WHERE id >= ?1 ORDER BY id LIMIT 50";

/* Uses the statement for every item and gives the sum of the ids and of the lengths of the names that it read. */
static uint64_t use(sqlite3* db, const struct options* options, const char* sql, int64_t last_start,
                    struct work* work) {
  const bool each = options->arm == ARM_prepare_each;
  sqlite3_stmt* kept = each ? NULL : prepare(db, sql);
  uint64_t check = 0;
  start_work(work);
  if (options->held) run_sql(db, "BEGIN");
  for (int64_t i = 0; i < options->items; i++) {
    sqlite3_stmt* statement = each ? prepare(db, sql) : kept;
    sqlite3_bind_int64(statement, 1, 1 + i % last_start);
    while (next_row(statement))
      check += (uint64_t)sqlite3_column_int64(statement, 0) * 31 + (uint64_t)sqlite3_column_bytes(statement, 1);
    if (each)
      sqlite3_finalize(statement);
    else
      sqlite3_reset(statement);
  }
  if (options->held) run_sql(db, "COMMIT");
  stop_work(work);
  sqlite3_finalize(kept);
  return check;
}

static uint64_t digits(int64_t number) {
  uint64_t count = 1;
  while (number /= 10) count++;
  return count;
}

static uint64_t expected_check(int64_t items, int64_t last_start, int rows) {
  uint64_t check = 0;
  for (int64_t i = 0; i < items; i++)
    for (int64_t id = 1 + i % last_start, end = id + rows; id < end; id++) check += (uint64_t)id * 31 + 5 + digits(id);
  return check;
}

static void prepare_alone(sqlite3* db, const struct options* options, const char* sql, struct work* work) {
  start_work(work);
  for (int64_t i = 0; i < options->items; i++) sqlite3_finalize(prepare(db, sql));
  stop_work(work);
}

void run_prepare_cost(const struct options* options) {
  sqlite3* db = open_database(DATABASE_FILE, options->regime);
  run_sql(db,
          "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);"
          "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1000) INSERT INTO t SELECT i, "
          "'name-' || i FROM c");
  struct work point = {0}, fetch = {0}, alone = {0};
  uint64_t check = use(db, options, point_sql, TABLE_ROWS, &point);
  must_equal("prepare_cost/point", check, expected_check(options->items, TABLE_ROWS, 1));
  print_work("prepare_cost/point", &point, options->items, options->measure, check);

  const int64_t last_start = TABLE_ROWS - FETCHED_ROWS + 1;
  check = use(db, options, fetch_sql, last_start, &fetch);
  must_equal("prepare_cost/fetch_50", check, expected_check(options->items, last_start, FETCHED_ROWS));
  print_work("prepare_cost/fetch_50", &fetch, options->items, options->measure, check);

  if (options->arm == ARM_prepare_each) {
    prepare_alone(db, options, point_sql, &alone);
    print_work("prepare_cost/prepare_alone", &alone, options->items, options->measure, DIGEST_START);
    struct work of_fetch = {0};
    prepare_alone(db, options, fetch_sql, &of_fetch);
    if (options->measure == MEASURE_TIME)
      print_value("prepare_cost/fetch_50", "prepare_share", "%",
                  100.0 * (double)of_fetch.wall_ns / (double)fetch.wall_ns, 2, "none", &check);
  }
  close_database(db);
}
