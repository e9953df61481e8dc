#include "database.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sql.h" /* generated from sql/ */

static const struct {
  const char *name, *sql;
} definitions[] = {
#define DEFINITION(name) {#name, sql_##name},
    STATEMENTS(DEFINITION)
#undef DEFINITION
};

_Noreturn void fail(struct database* db, const char* what, int rc) {
  const char* reason = rc == NO_ROW ? "a row that must be there is missing" : sqlite3_errstr(rc);
  /* The connection's own words are better, unless a rollback has replaced them since. */
  if (db->handle && sqlite3_extended_errcode(db->handle) == rc) reason = sqlite3_errmsg(db->handle);
  /* Kept for good: of several workers that fail, the first speaks and ends the program. */
  static pthread_mutex_t speaking = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&speaking);
  fprintf(stderr, RUNNER ": %s: %s (SQLite error %d)\n", what, reason, rc);
  exit(1);
}

static void run_script(struct database* db, const char* what, const char* sql) {
  int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
  if (rc != SQLITE_OK) fail(db, what, rc);
}

void open_database(struct database* db, const struct options* options) {
  const char* path = options->path;
  *db = (struct database){.shape = &options->shape};
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int rc = sqlite3_open_v2(path, &db->handle, flags, NULL);
  if (rc != SQLITE_OK) fail(db, path, rc);
  sqlite3_extended_result_codes(db->handle, 1);
  run_script(db, path, sql_pragmas);
  if (options->busy_timeout_ms >= 0) sqlite3_busy_timeout(db->handle, options->busy_timeout_ms);
}

static void finalize(struct database* db, enum statement which) {
  sqlite3_stmt* statement = db->statements[which];
  if (!statement) return;
  db->counts.runs[which] += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0);
  db->counts.prepared[which] += 1 + sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_REPREPARE, 0);
  sqlite3_finalize(statement);
  db->statements[which] = NULL;
}

void close_database(struct database* db) {
  for (int i = 0; i < STATEMENT_COUNT; i++) finalize(db, (enum statement)i);
  int rc = sqlite3_close(db->handle);
  if (rc != SQLITE_OK) fail(db, "close", rc);
}

/* Runs the script that a query has written. */
static void extend_schema(struct database* db) {
  sqlite3_stmt* statement;
  int rc = sqlite3_prepare_v2(db->handle, sql_extra_schema, -1, &statement, NULL);
  if (rc != SQLITE_OK) fail(db, "extra_schema", rc);
  sqlite3_bind_int(statement, 1, db->shape->extra_tables);
  sqlite3_bind_int(statement, 2, db->shape->extra_indexes);
  rc = sqlite3_step(statement);
  if (rc != SQLITE_ROW) fail(db, "extra_schema", rc);
  run_script(db, "extra_schema", (const char*)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
}

void seed_database(struct database* db) {
  char rows[48];
  snprintf(rows, sizeof rows, "PRAGMA user_version=%d", db->shape->rows);
  run_script(db, "seed", sql_begin_immediate);
  run_script(db, "seed", rows);
  run_script(db, "schema", sql_schema);
  if (db->shape->extra_tables || db->shape->extra_indexes) extend_schema(db);
  run_script(db, "seed", sql_seed);
  run_script(db, "seed", sql_commit);
}

static uint64_t fnv1a(const unsigned char* bytes, int size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t sum_columns(sqlite3_stmt* statement) {
  uint64_t sum = 0;
  for (int i = 0, columns = sqlite3_column_count(statement); i < columns; i++) {
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_INTEGER:
        sum += (uint64_t)sqlite3_column_int64(statement, i);
        break;
      case SQLITE_TEXT: {
        const unsigned char* bytes = sqlite3_column_text(statement, i);
        sum += fnv1a(bytes, sqlite3_column_bytes(statement, i));
        break;
      }
      case SQLITE_BLOB: {
        const unsigned char* bytes = sqlite3_column_blob(statement, i);
        sum += fnv1a(bytes, sqlite3_column_bytes(statement, i));
        break;
      }
    }
  }
  return sum;
}

uint64_t sum_every_row(struct database* db) {
  uint64_t sum = 0;
  for (const char* sql = sql_every_row; *sql;) {
    sqlite3_stmt* statement;
    int rc = sqlite3_prepare_v2(db->handle, sql, (int)strcspn(sql, "\n"), &statement, NULL);
    if (rc != SQLITE_OK) fail(db, "every_row", rc);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) sum += sum_columns(statement);
    if (rc != SQLITE_DONE) fail(db, "every_row", rc);
    sqlite3_finalize(statement);
    sql += strcspn(sql, "\n");
    sql += *sql == '\n';
  }
  return sum;
}

static void trace_text(FILE* out, const char* value) {
  putc('\'', out);
  for (; *value; value++) fprintf(out, *value == '\'' ? "''" : "%c", *value);
  putc('\'', out);
}

static void trace_column(FILE* out, sqlite3_stmt* statement, int i) {
  switch (sqlite3_column_type(statement, i)) {
    case SQLITE_INTEGER:
      fprintf(out, "%lld", (long long)sqlite3_column_int64(statement, i));
      break;
    case SQLITE_TEXT:
      trace_text(out, (const char*)sqlite3_column_text(statement, i));
      break;
    case SQLITE_BLOB: {
      const unsigned char* bytes = sqlite3_column_blob(statement, i);
      fputs("X'", out);
      for (int n = 0; n < sqlite3_column_bytes(statement, i); n++) fprintf(out, "%02x", bytes[n]);
      putc('\'', out);
      break;
    }
    default:
      fputs("NULL", out);
  }
}

static void trace(struct database* db, enum statement which, const struct value* values, int count, int has_row) {
  sqlite3_stmt* statement = db->statements[which];
  fprintf(db->trace, "%s\t%d\t%s\t%s\t", db->request, ++db->step, definitions[which].name, sqlite3_sql(statement));
  for (int i = 0; i < count; i++) {
    if (i) fputs(", ", db->trace);
    if (values[i].text)
      trace_text(db->trace, values[i].text);
    else
      fprintf(db->trace, "%lld", (long long)values[i].number);
  }
  fputs(count ? "\t" : "-\t", db->trace);
  for (int i = 0; has_row && i < sqlite3_column_count(statement); i++) {
    if (i) fputs(", ", db->trace);
    trace_column(db->trace, statement, i);
  }
  fputs(has_row ? "\n" : "-\n", db->trace);
}

/* Prepares at first use, binds, and takes the first step. */
static int start(struct database* db, enum statement which, const struct value* values, int count) {
  sqlite3_stmt** statement = &db->statements[which];
  if (!*statement) {
    unsigned flags = db->shape->statement_cache == CACHE_NONE ? 0 : SQLITE_PREPARE_PERSISTENT;
    int rc = sqlite3_prepare_v3(db->handle, definitions[which].sql, -1, flags, statement, NULL);
    if (rc != SQLITE_OK) return rc;
  }
  for (int i = 0; i < count; i++) {
    int rc = values[i].text ? sqlite3_bind_text(*statement, i + 1, values[i].text, -1, SQLITE_STATIC)
                            : sqlite3_bind_int64(*statement, i + 1, values[i].number);
    if (rc != SQLITE_OK) return rc;
  }
  return sqlite3_step(*statement);
}

static void release(struct database* db, enum statement which) {
  if (db->shape->statement_cache == CACHE_NONE)
    finalize(db, which);
  else
    sqlite3_reset(db->statements[which]);
}

int query(struct database* db, enum statement which, const struct value* values, int count, struct row* row) {
  int rc = start(db, which, values, count);
  if (rc == SQLITE_ROW) {
    row->first = sqlite3_column_int64(db->statements[which], 0);
    row->sum = sum_columns(db->statements[which]);
    if (db->trace) trace(db, which, values, count, 1);
    rc = SQLITE_OK;
  } else if (rc == SQLITE_DONE) {
    rc = NO_ROW;
  }
  release(db, which);
  return rc;
}

int execute(struct database* db, enum statement which, const struct value* values, int count) {
  int rc = start(db, which, values, count);
  if (rc == SQLITE_DONE && db->trace) trace(db, which, values, count, 0);
  release(db, which);
  return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

void add_counts(struct counts* into, const struct counts* other) {
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    into->prepared[i] += other->prepared[i];
    into->runs[i] += other->runs[i];
  }
}

void print_counts(const struct counts* counts, FILE* out) {
  for (int i = 0; i < STATEMENT_COUNT; i++)
    if (counts->runs[i])
      fprintf(out, "%s prepared=%lld runs=%lld\n", definitions[i].name, (long long)counts->prepared[i],
              (long long)counts->runs[i]);
}
