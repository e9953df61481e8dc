/* One connection, requests one after another; and the trace of one request of each kind. */
#include "modes.h"
#include "request.h"

static void print_row(const char* name, int64_t items, int64_t ns, uint64_t check) {
  int64_t ns_per_item = (ns + items / 2) / items;
  printf(CASE_PREFIX "%s,%lld,%lld,%lld.%03d,%lld\n", name, (long long)items, (long long)(ns / 1000),
         (long long)(ns_per_item / 1000), (int)(ns_per_item % 1000), (long long)check);
  fflush(stdout);
}

static int64_t count_rows(struct database* db) {
  /* Rows changed since the connection was opened: all of them are the seed's. */
  return sqlite3_total_changes64(db->handle);
}

void run_sequential(const struct options* options) {
  struct database db;
  const int64_t items = item_count(&options->shape);
  open_database(&db, options);
  puts("case,items,micros,us_per_item,check");

  int64_t start = now_ns();
  seed_database(&db);
  int64_t took = now_ns() - start;
  print_row("seed_dummy_data", count_rows(&db), took, sum_every_row(&db));

  uint64_t check = 0;
  start = now_ns();
  for (int64_t i = 1; i <= options->items; i++) {
    int rc = admin_item_edit(&db, (i - 1) % items + 1, &check);
    if (rc != SQLITE_OK) fail(&db, "admin_item_edit", rc);
  }
  print_row("admin_item_edit", options->items, now_ns() - start, check);

  check = 0;
  start = now_ns();
  for (int64_t i = 1; i <= options->items; i++) {
    int rc = admin_item_update(&db, i, (i - 1) % items + 1, &check);
    if (rc != SQLITE_OK) fail(&db, "admin_item_update", rc);
  }
  print_row("admin_item_update", options->items, now_ns() - start, check);

  close_database(&db);
  if (options->statement_counts) print_counts(&db.counts, stderr);
}

void print_trace(const struct options* options) {
  struct database db;
  open_database(&db, options);
  seed_database(&db);
  db.trace = stdout;
  print_shape(db.shape, db.trace);
  uint64_t check = 0;

  db.request = "admin_item_edit";
  int rc = admin_item_edit(&db, 1, &check);
  if (rc != SQLITE_OK) fail(&db, db.request, rc);

  db.request = "admin_item_update";
  db.step = 0;
  rc = admin_item_update(&db, 1, 1, &check);
  if (rc != SQLITE_OK) fail(&db, db.request, rc);
  close_database(&db);
}
