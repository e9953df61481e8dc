#include "lanes.h"

#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { SHORT_BYTES = 24, LONG_BYTES = 1000, BLOB_BYTES = 100, SQL_BYTES = 64 * 1024 };

const char* const lane_names[] = {"int_6",     "int_64", "real_integral", "real_fractional", "wide", "text_short",
                                  "text_long", "blob",   "one_row",       "edges",           NULL};

struct shape shape_of(enum lane lane, int64_t rows, int64_t columns) {
  switch (lane) {
    case WIDE:
      return (struct shape){(rows + 9) / 10, columns * 10};
    case TEXT_LONG: /* as many bytes as ten times the rows of short texts */
    case BLOBS:
      return (struct shape){(rows + 9) / 10, columns};
    case ONE_ROW:
      return (struct shape){1, columns};
    default:
      return (struct shape){rows, columns};
  }
}

/* Letters, with a quote or a line feed now and then. */
static void write_long(char* to, struct random* random) {
  for (int i = 0; i < LONG_BYTES; i++) {
    uint64_t drawn = random_next(random);
    to[i] = drawn % 100 == 0 ? '"' : drawn % 100 == 1 ? '\n' : (char)('a' + drawn / 100 % 26);
  }
}

static void bind_text(sqlite3_stmt* insert, int place, const char* text, int size) {
  sqlite3_bind_text(insert, place, text, size, SQLITE_TRANSIENT);
}

static void bind_short_text(sqlite3_stmt* insert, int place, struct random* random) {
  char text[SHORT_BYTES];
  bind_text(insert, place, text, snprintf(text, sizeof text, "text value %d", (int)random_between(random, 0, 99999)));
}

static void bind_one(sqlite3_stmt* insert, int place, enum lane lane, struct random* random) {
  char text[LONG_BYTES];
  switch (lane) {
    case INT_6:
      sqlite3_bind_int64(insert, place, random_between(random, 100000, 999999));
      break;
    case INT_64:
      sqlite3_bind_int64(insert, place, (int64_t)random_next(random));
      break;
    case REAL_INTEGRAL:
      sqlite3_bind_double(insert, place, (double)random_between(random, -1000000, 1000000));
      break;
    case REAL_FRACTIONAL:
      sqlite3_bind_double(insert, place, (double)random_between(random, 0, 999999) / 7);
      break;
    case TEXT_SHORT:
      bind_short_text(insert, place, random);
      break;
    case TEXT_LONG:
      write_long(text, random);
      bind_text(insert, place, text, LONG_BYTES);
      break;
    case BLOBS:
      for (int i = 0; i < BLOB_BYTES; i++) text[i] = (char)random_next(random);
      sqlite3_bind_blob(insert, place, text, BLOB_BYTES, SQLITE_TRANSIENT);
      break;
    default: /* wide, one_row: a bit of everything */
      switch (place % 4) {
        case 0:
          sqlite3_bind_null(insert, place);
          break;
        case 1:
          bind_short_text(insert, place, random);
          break;
        case 2:
          sqlite3_bind_double(insert, place, (double)random_between(random, 0, 1000000));
          break;
        default:
          sqlite3_bind_int64(insert, place, random_between(random, 0, 999999));
      }
  }
}

static sqlite3_stmt* make_table(sqlite3* db, int64_t columns) {
  static char sql[SQL_BYTES];
  char* end = stpcpy(sql, "CREATE TABLE t(");
  for (int64_t i = 0; i < columns; i++) end += sprintf(end, "%sc%lld", i ? "," : "", (long long)i);
  stpcpy(end, ")");
  run_sql(db, sql);
  end = stpcpy(sql, "INSERT INTO t VALUES(?");
  for (int64_t i = 1; i < columns; i++) end = stpcpy(end, ",?");
  stpcpy(end, ")");
  return prepare(db, sql);
}

static void fill_edges(sqlite3* db) {
  run_sql(
      db,
      "CREATE TABLE t(v);"
      "INSERT INTO t VALUES (-9223372036854775807 - 1), (9223372036854775807), (0), (-1), (NULL),"
      " (9e999), (-9e999), (-0.0), (0.0), (1e15), (999999999999999.0), (-1e15), (0.1), (1.7976931348623157e308),"
      " (5e-324), (-2.5), (''), ('a' || char(0) || 'b'), (char(0)), ('\"quoted\" \\ '), (char(1, 9, 10, 13, 31, 127)),"
      " (char(228, 8364, 128512)), (x''), (x'00'), (x'0001'), (x'000102'), (x'fffefdfc'), ('1e999')");
}

void fill_lane(sqlite3* db, enum lane lane, struct shape shape) {
  if (lane == EDGES) {
    fill_edges(db);
    return;
  }
  struct random random = {.state = 5 + (uint64_t)lane};
  sqlite3_stmt* insert = make_table(db, shape.columns);
  run_sql(db, "BEGIN");
  for (int64_t row = 0; row < shape.rows; row++) {
    for (int64_t column = 0; column < shape.columns; column++) bind_one(insert, (int)column + 1, lane, &random);
    run_statement(insert);
  }
  run_sql(db, "COMMIT");
  sqlite3_finalize(insert);
}
