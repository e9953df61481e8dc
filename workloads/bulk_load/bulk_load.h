/* What the program is told, and how it opens its database. */
#ifndef BULK_LOAD_H
#define BULK_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "database.h"
#include "rows.h"

enum mode { LOAD, LOAD_WITH_READER, LOAD_THEN_READ };

struct options {
  enum mode mode;
  int64_t items, batch, curve_step, probe_ms, hold_ms, reads;
  int64_t autocheckpoint; /* below 0: no pragma at all */
  int64_t truncate_every; /* batches; 0: never */
  bool full;              /* synchronous=FULL */
  bool log_sql;
  enum measure measure;
};

#define DATABASE_FILE "bulk_load.db"

/* In WAL mode, through the VFS that watches checkpoints, with the options' pragmas. */
sqlite3* open_for_load(const struct options* options);
/* In WAL mode as SQLite opens it. */
sqlite3* open_for_reads(void);

/* Reads a comment by its key and fail()s unless it is the right one. */
void read_comment(sqlite3_stmt* select, int64_t row);
sqlite3_stmt* prepare_read(sqlite3* db);

#endif
