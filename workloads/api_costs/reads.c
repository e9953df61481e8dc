/* Every row of one column, and what becomes of a text or blob: a copy of its own, a copy that is kept, a reused buffer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_costs.h"

enum { PASSES = 3 };
enum kind { INTEGERS, REALS, TEXTS, BLOBS, KINDS };
static const char* const kind_names[KINDS] = {"int", "float", "text", "blob"};

struct reader {
  const struct options* options;
  sqlite3_stmt* fetch;
  char* buffer;
  char** kept;
};

/* Letters only, so that a text has no end inside. Bytes beyond the last whole word repeat it. */
static void write_value(char* to, int64_t size, struct random* random) {
  uint64_t word = 0;
  for (int64_t i = 0; i < size; i++) {
    if (i % 8 == 0) word = random_next(random);
    to[i] = (char)('a' + ((word >> (i % 8 * 8)) & 15));
  }
}

static uint64_t part_of_check(const char* value, int64_t size) {
  return (uint64_t)size + (unsigned char)value[0] * 257u + (unsigned char)value[size - 1] * 65537u;
}

static double real_of(struct random* random) {
  return (double)random_between(random, 0, 1000000) / 8;
}

/* Fills t with one kind of values and gives the check of reading them. */
static uint64_t fill(sqlite3* db, const struct options* options, enum kind kind, char* buffer) {
  run_sql(db, "CREATE TABLE t(v)");
  run_sql(db, "BEGIN");
  sqlite3_stmt* insert = prepare(db, "INSERT INTO t VALUES(?1)");
  struct random random = {.state = 17 + (uint64_t)kind};
  uint64_t check = 0;
  for (int64_t i = 0; i < options->items; i++) {
    if (kind == INTEGERS) {
      int64_t value = random_between(&random, 0, 1000000);
      check += (uint64_t)value;
      sqlite3_bind_int64(insert, 1, value);
    } else if (kind == REALS) {
      double value = real_of(&random);
      check += (uint64_t)(value * 8);
      sqlite3_bind_double(insert, 1, value);
    } else {
      write_value(buffer, options->bytes, &random);
      check += part_of_check(buffer, options->bytes);
      if (kind == TEXTS)
        sqlite3_bind_text(insert, 1, buffer, (int)options->bytes, SQLITE_STATIC);
      else
        sqlite3_bind_blob(insert, 1, buffer, (int)options->bytes, SQLITE_STATIC);
    }
    run_statement(insert);
  }
  sqlite3_finalize(insert);
  run_sql(db, "COMMIT");
  return check;
}

static char* copy_of(const char* value, size_t size) {
  char* copy = malloc(size + 1);
  if (!copy) fail("out of memory for a copy of %zu bytes", size);
  memcpy(copy, value, size);
  copy[size] = '\0';
  return copy;
}

/* A text's length is looked for, as who takes it as a C string does; a blob's is asked for. */
static uint64_t read_copied(struct reader* reader, enum kind kind, int64_t row) {
  const char* value =
      kind == TEXTS ? (const char*)sqlite3_column_text(reader->fetch, 0) : sqlite3_column_blob(reader->fetch, 0);
  size_t size = kind == TEXTS ? strlen(value) : (size_t)sqlite3_column_bytes(reader->fetch, 0);
  char* copy = copy_of(value, size);
  uint64_t part = part_of_check(copy, (int64_t)size);
  if (reader->options->arm == ARM_retained)
    reader->kept[row] = copy;
  else
    free(copy);
  return part;
}

static uint64_t read_into_buffer(struct reader* reader) {
  const void* value = sqlite3_column_blob(reader->fetch, 0);
  int size = sqlite3_column_bytes(reader->fetch, 0);
  memcpy(reader->buffer, value, (size_t)size);
  return part_of_check(reader->buffer, size);
}

static uint64_t read_row(struct reader* reader, enum kind kind, int64_t row) {
  if (kind == INTEGERS) return (uint64_t)sqlite3_column_int64(reader->fetch, 0);
  if (kind == REALS) return (uint64_t)(sqlite3_column_double(reader->fetch, 0) * 8);
  return reader->options->arm == ARM_reused_buffer ? read_into_buffer(reader) : read_copied(reader, kind, row);
}

static uint64_t read_all(struct reader* reader, enum kind kind) {
  uint64_t check = 0;
  int64_t row = 0;
  while (next_row(reader->fetch)) check += read_row(reader, kind, row++);
  sqlite3_reset(reader->fetch);
  return check;
}

static void drop_kept(struct reader* reader) {
  for (int64_t i = 0; i < reader->options->items; i++) {
    free(reader->kept[i]);
    reader->kept[i] = NULL;
  }
}

static void run_case(const struct options* options, enum kind kind) {
  char name[32];
  snprintf(name, sizeof name, "reads/%s", kind_names[kind]);
  struct reader reader = {.options = options,
                          .buffer = allocate((size_t)options->bytes, 1),
                          .kept = allocate((size_t)options->items, sizeof(char*))};
  sqlite3* db = open_database(DATABASE_FILE, options->regime);
  uint64_t expected = fill(db, options, kind, reader.buffer);
  reader.fetch = prepare(db, "SELECT v FROM t");
  struct work work = {0};
  must_equal(name, read_all(&reader, kind), expected); /* warms up */
  drop_kept(&reader);
  for (int pass = 0; pass < PASSES; pass++) {
    start_work(&work);
    uint64_t check = read_all(&reader, kind);
    stop_work(&work);
    must_equal(name, check, expected);
    drop_kept(&reader);
  }
  print_work(name, &work, PASSES * options->items, options->measure, expected);
  sqlite3_finalize(reader.fetch);
  close_database(db);
  remove_database(DATABASE_FILE);
  free(reader.kept);
  free(reader.buffer);
}

void run_reads(const struct options* options) {
  for (enum kind kind = INTEGERS; kind < KINDS; kind++) run_case(options, kind);
}
