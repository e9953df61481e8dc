/* Sum, min and max of integers: in SQL, or fetched into an array and reduced outside. */
#include <stdlib.h>

#include "api_costs.h"
#include "reduce.h"

enum { PASSES = 5 };

struct column {
  sqlite3* db;
  sqlite3_stmt* fetch;
  int64_t* values;
  int64_t reduce_ns;
};

static int64_t value_of(struct random* random) {
  return random_between(random, -1000000, 1000000);
}

static void fill(sqlite3* db, int64_t rows) {
  run_sql(db, "CREATE TABLE t(v INTEGER)");
  run_sql(db, "BEGIN");
  sqlite3_stmt* insert = prepare(db, "INSERT INTO t VALUES(?1)");
  struct random random = {.state = 11};
  for (int64_t i = 0; i < rows; i++) {
    sqlite3_bind_int64(insert, 1, value_of(&random));
    run_statement(insert);
  }
  sqlite3_finalize(insert);
  run_sql(db, "COMMIT");
}

static struct reduction in_sql(sqlite3_stmt* statement, bool sum_only) {
  if (!next_row(statement)) fail("an aggregate gives no row");
  struct reduction all = {sqlite3_column_int64(statement, 0), 0, 0};
  if (!sum_only) {
    all.min = sqlite3_column_int64(statement, 1);
    all.max = sqlite3_column_int64(statement, 2);
  }
  sqlite3_reset(statement);
  return all;
}

static struct reduction outside(struct column* column, bool vectors, bool sum_only) {
  int64_t count = 0;
  while (next_row(column->fetch)) column->values[count++] = sqlite3_column_int64(column->fetch, 0);
  sqlite3_reset(column->fetch);
  int64_t start = now_ns();
  struct reduction all = {0};
  if (sum_only)
    all.sum = vectors ? sum_vector(column->values, count) : sum_scalar(column->values, count);
  else
    all = vectors ? reduce_vector(column->values, count) : reduce_scalar(column->values, count);
  column->reduce_ns += now_ns() - start;
  return all;
}

static uint64_t check_of(const struct reduction* all) {
  uint64_t digest = digest_number(DIGEST_START, all->sum);
  return digest_row_end(digest_number(digest_number(digest, all->min), all->max));
}

static uint64_t expected_check(int64_t rows, bool sum_only) {
  struct random random = {.state = 11};
  struct reduction all = {0, INT64_MAX, INT64_MIN};
  for (int64_t i = 0; i < rows; i++) {
    int64_t value = value_of(&random);
    all.sum += value;
    if (value < all.min) all.min = value;
    if (value > all.max) all.max = value;
  }
  if (sum_only) all.min = all.max = 0;
  return check_of(&all);
}

static void run_case(const char* name, struct column* column, const struct options* options, bool sum_only) {
  const bool sql = options->arm == ARM_sql, vectors = options->arm == ARM_fetch_vector;
  sqlite3_stmt* aggregate =
      prepare(column->db, sum_only ? "SELECT sum(v) FROM t" : "SELECT sum(v), min(v), max(v) FROM t");
  struct work work = {0};
  struct reduction all = sql ? in_sql(aggregate, sum_only) : outside(column, vectors, sum_only); /* warms up */
  uint64_t check = expected_check(options->items, sum_only);
  must_equal(name, check_of(&all), check);
  column->reduce_ns = 0;
  for (int pass = 0; pass < PASSES; pass++) {
    start_work(&work);
    all = sql ? in_sql(aggregate, sum_only) : outside(column, vectors, sum_only);
    stop_work(&work);
    must_equal(name, check_of(&all), check);
  }
  sqlite3_finalize(aggregate);
  print_work(name, &work, PASSES * options->items, options->measure, check);
  if (!sql && options->measure == MEASURE_TIME)
    print_value(name, "reduce_share", "%", 100.0 * (double)column->reduce_ns / (double)work.wall_ns, 2, "none", &check);
}

void run_aggregate(const struct options* options) {
  struct column column = {.db = open_database(DATABASE_FILE, options->regime),
                          .values = allocate((size_t)options->items, sizeof(int64_t))};
  fill(column.db, options->items);
  column.fetch = prepare(column.db, "SELECT v FROM t");
  run_case("aggregate/sum_min_max", &column, options, false);
  run_case("aggregate/sum", &column, options, true);
  sqlite3_finalize(column.fetch);
  free(column.values);
  close_database(column.db);
}
