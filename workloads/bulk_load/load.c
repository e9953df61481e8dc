#include "load.h"

#include <stdio.h>
#include <sys/stat.h>

#include "bench.h"
#include "checkpoints.h"
#include "comments.h"
#include "reader.h"

struct load {
  const struct options* options;
  sqlite3* db;
  struct work work, close; /* `work` covers the close too */
  int64_t wal_peak;
  int64_t curve_rows, curve_ns; /* at the last point of the curve */
};

static void measure_wal(struct load* load) {
  struct stat status;
  if (stat(DATABASE_FILE "-wal", &status) == 0 && status.st_size > load->wal_peak) load->wal_peak = status.st_size;
}

/* The clock stands still while a point is printed. */
static void add_to_curve(struct load* load, int64_t rows) {
  const bool whole_step = rows - load->curve_rows >= load->options->curve_step;
  if (!whole_step && rows < load->options->items) return;
  stop_work(&load->work);
  if (load->options->measure == MEASURE_TIME) {
    char name[48];
    snprintf(name, sizeof name, "curve/%lld", (long long)rows);
    double us = (double)(load->work.wall_ns - load->curve_ns) / 1e3 / (double)(rows - load->curve_rows);
    print_value(name, "time", "us", us, 3, "lower", NULL);
  }
  load->curve_rows = rows;
  load->curve_ns = load->work.wall_ns;
  start_work(&load->work);
}

/* With a reader the checkpoint may find the WAL in use; then the next one may do better. */
static void truncate_wal(struct load* load) {
  int rc = sqlite3_wal_checkpoint_v2(load->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
  if ((rc & 0xff) == SQLITE_BUSY && load->options->mode == LOAD_WITH_READER) return;
  must_be_ok(load->db, rc, "wal_checkpoint(TRUNCATE)");
}

static void insert_all(struct load* load) {
  const struct options* options = load->options;
  sqlite3_stmt *insert = prepare_insert(load->db), *begin = prepare(load->db, "BEGIN"),
               *commit = prepare(load->db, "COMMIT");
  start_work(&load->work);
  for (int64_t row = 1, batches = 0; row <= options->items;) {
    run_statement(begin);
    for (int64_t i = 0; i < options->batch && row <= options->items; i++, row++) {
      struct comment comment = comment_of(row);
      insert_comment(insert, &comment);
    }
    run_statement(commit);
    measure_wal(load);
    if (options->truncate_every && ++batches % options->truncate_every == 0) truncate_wal(load);
    add_to_curve(load, row - 1);
  }
  sqlite3_finalize(insert);
  sqlite3_finalize(begin);
  sqlite3_finalize(commit);
  stop_work(&load->work);
}

static void close_load(struct load* load) {
  start_work(&load->work);
  start_work(&load->close);
  close_database(load->db);
  stop_work(&load->close);
  stop_work(&load->work);
}

static void time_reads(const struct options* options, const char* name) {
  sqlite3* db = open_for_reads();
  sqlite3_stmt* select = prepare_read(db);
  struct random random = {.state = 31};
  struct work work = {0};
  start_work(&work);
  for (int64_t i = 0; i < options->reads; i++) read_comment(select, random_between(&random, 1, options->items));
  stop_work(&work);
  sqlite3_finalize(select);
  close_database(db);
  print_work(name, &work, options->reads, options->measure, (uint64_t)options->reads);
}

static void print_load(const struct load* load, int64_t insert_ns, const struct checkpoints* during, uint64_t check) {
  const struct work* work = &load->work;
  if (load->options->measure == MEASURE_TIME) {
    print_value("load", "time", "ms", (double)work->wall_ns / 1e6, 3, "lower", &check);
    print_value("load", "cpu", "ms", (double)work->cpu_ns / 1e6, 3, "lower", &check);
    print_value("load", "insert_time", "ms", (double)insert_ns / 1e6, 3, "lower", &check);
    print_value("load", "close_time", "ms", (double)load->close.wall_ns / 1e6, 3, "lower", &check);
    print_value("load", "checkpoint_time", "ms", (double)during->ns / 1e6, 3, "lower", &check);
  } else {
    print_work("load", work, load->options->items, MEASURE_COUNTS, check);
  }
  print_value("load", "checkpoints", "count", (double)during->count, 0, "none", &check);
  print_value("load", "wal_peak", "bytes", (double)load->wal_peak, 0, "lower", &check);
}

void run_load(const struct options* options) {
  struct load load = {.options = options};
  struct reader reader = {0};
  load.db = open_for_load(options);
  create_comments(load.db);
  if (options->mode == LOAD_WITH_READER) { /* no connection may be taken through a fork */
    close_database(load.db);
    reader = start_reader(options);
    load.db = open_for_load(options);
  }
  const struct checkpoints before = checkpoints;
  insert_all(&load);
  const int64_t insert_ns = load.work.wall_ns;
  if (options->mode == LOAD_WITH_READER) finish_reader(&reader); /* else its connection would be the last, not ours */
  if (options->mode == LOAD_THEN_READ) time_reads(options, "read/in_wal");
  close_load(&load);
  const struct checkpoints during = {checkpoints.count - before.count, checkpoints.ns - before.ns};
  if (options->mode == LOAD_THEN_READ) time_reads(options, "read/checkpointed");
  sqlite3* db = open_for_reads();
  uint64_t check = check_comments(db, options->items);
  close_database(db);
  print_load(&load, insert_ns, &during, check);
}
