/* The experiments, one function each: they make their database, measure one arm, print its rows and compare what was
   read or written with values computed without SQLite. */
#ifndef API_COSTS_H
#define API_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"
#include "database.h"
#include "rows.h"

/* Arms by experiment; the first of each is what the others are compared with. */
// clang-format off
#define ARMS(X)                                                                                                \
  X(BATCH_INSERT, autocommit) X(BATCH_INSERT, autocommit_sync_off) X(BATCH_INSERT, one_transaction)            \
  X(RANDOM_READ, defaults) X(RANDOM_READ, mmap) X(RANDOM_READ, cache) X(RANDOM_READ, mmap_cache)               \
  X(IN_LIST, loop) X(IN_LIST, rebuilt_in) X(IN_LIST, json_each) X(IN_LIST, json_each_reused)                   \
  X(IN_LIST, carray_reused)                                                                                    \
  X(PREPARE_COST, prepare_each) X(PREPARE_COST, reset_reused)                                                  \
  X(AGGREGATE, sql) X(AGGREGATE, fetch_scalar) X(AGGREGATE, fetch_vector)                                      \
  X(READS, copy_each) X(READS, retained) X(READS, reused_buffer)                                               \
  X(TEMP_STORE, temp_file) X(TEMP_STORE, temp_memory)
// clang-format on

#define ENUMERATOR(mode, name) ARM_##name,
enum arm { ARMS(ENUMERATOR) ARM_COUNT };
#undef ENUMERATOR
enum mode { BATCH_INSERT, RANDOM_READ, IN_LIST, PREPARE_COST, AGGREGATE, READS, TEMP_STORE, MODE_COUNT };

struct options {
  enum mode mode;
  enum arm arm;
  int64_t items, autocommit_items, megabytes, rows, largest, bytes;
  enum regime regime;
  bool held; /* all within one transaction */
  enum measure measure;
};

#define DATABASE_FILE "api_costs.db"

void run_batch_insert(const struct options* options);
void run_random_read(const struct options* options);
void run_in_list(const struct options* options);
void run_prepare_cost(const struct options* options);
void run_aggregate(const struct options* options);
void run_reads(const struct options* options);
void run_temp_store(const struct options* options);

#endif
