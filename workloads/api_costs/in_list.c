/* The rows of N ids at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api_costs.h"
#include "id_lists.h"

static const char payload[] = "payload payload payload payload";

/* One way of asking for a list. Statements that are reused are prepared by the first list of a case. */
struct method {
  const struct options* options;
  sqlite3* db;
  sqlite3_stmt* reused;
  bool texts;  /* asks by code, not by id */
  char* words; /* room for the text of a rebuilt IN or of a JSON array */
  uint64_t check;
};

/* What an application does with a row, here: looks at every byte. Rows come in any order, so their digests are summed.
 */
static void take_rows(struct method* method, sqlite3_stmt* statement) {
  while (next_row(statement)) {
    uint64_t digest = DIGEST_START;
    for (int i = 0; i < 2; i++) {
      const void* text = sqlite3_column_text(statement, i);
      digest = digest_column(digest, text, (size_t)sqlite3_column_bytes(statement, i));
    }
    method->check += digest_row_end(digest);
  }
}

static void bind_id(struct method* method, sqlite3_stmt* statement, int place, const struct id_list* list, int64_t i) {
  int rc = method->texts ? sqlite3_bind_text(statement, place, list->codes[i], -1, SQLITE_STATIC)
                         : sqlite3_bind_int64(statement, place, list->ids[i]);
  must_be_ok(method->db, rc, "bind");
}

static void ask_loop(struct method* method, const struct id_list* list) {
  if (!method->reused)
    method->reused = prepare(method->db, method->texts ? "SELECT name, payload FROM items WHERE code = ?1"
                                                       : "SELECT name, payload FROM items WHERE id = ?1");
  for (int64_t i = 0; i < list->count; i++) {
    bind_id(method, method->reused, 1, list, i);
    take_rows(method, method->reused);
    sqlite3_reset(method->reused);
  }
}

static void ask_rebuilt(struct method* method, const struct id_list* list) {
  char* end = stpcpy(method->words, method->texts ? "SELECT name, payload FROM items WHERE code IN ("
                                                  : "SELECT name, payload FROM items WHERE id IN (");
  for (int64_t i = 0; i < list->count; i++) end = stpcpy(end, i ? ",?" : "?");
  stpcpy(end, ")");
  sqlite3_stmt* statement = prepare(method->db, method->words);
  for (int64_t i = 0; i < list->count; i++) bind_id(method, statement, (int)i + 1, list, i);
  take_rows(method, statement);
  sqlite3_finalize(statement);
}

static void ask_json(struct method* method, const struct id_list* list, bool reuse) {
  sqlite3_stmt* statement = method->reused;
  if (!statement)
    statement = prepare(
        method->db, method->texts ? "SELECT name, payload FROM items WHERE code IN (SELECT value FROM json_each(?1))"
                                  : "SELECT name, payload FROM items WHERE id IN (SELECT value FROM json_each(?1))");
  size_t size = write_json_list(method->words, list, method->texts);
  must_be_ok(method->db, sqlite3_bind_text(statement, 1, method->words, (int)size, SQLITE_STATIC), "bind");
  take_rows(method, statement);
  sqlite3_reset(statement);
  if (reuse)
    method->reused = statement;
  else
    sqlite3_finalize(statement);
}

static void ask_carray(struct method* method, const struct id_list* list) {
  if (!method->reused)
    method->reused = prepare(
        method->db, method->texts ? "SELECT name, payload FROM items WHERE code IN (SELECT value FROM carray(?1))"
                                  : "SELECT name, payload FROM items WHERE id IN (SELECT value FROM carray(?1))");
  int rc = method->texts ? sqlite3_carray_bind(method->reused, 1, (void*)list->codes, (int)list->count,
                                               SQLITE_CARRAY_TEXT, SQLITE_STATIC)
                         : sqlite3_carray_bind(method->reused, 1, (void*)list->ids, (int)list->count,
                                               SQLITE_CARRAY_INT64, SQLITE_STATIC);
  must_be_ok(method->db, rc, "sqlite3_carray_bind");
  take_rows(method, method->reused);
  sqlite3_reset(method->reused);
}

static void ask(struct method* method, const struct id_list* list) {
  switch (method->options->arm) {
    case ARM_loop:
      ask_loop(method, list);
      break;
    case ARM_rebuilt_in:
      ask_rebuilt(method, list);
      break;
    case ARM_json_each:
      ask_json(method, list, false);
      break;
    case ARM_json_each_reused:
      ask_json(method, list, true);
      break;
    default:
      ask_carray(method, list);
  }
}

static uint64_t row_check(int64_t id) {
  char name[32];
  size_t size = (size_t)snprintf(name, sizeof name, "name-%lld", (long long)id);
  return digest_row_end(digest_column(digest_column(DIGEST_START, name, size), payload, sizeof payload - 1));
}

static void fill(sqlite3* db, int64_t rows) {
  run_sql(db, "CREATE TABLE items(id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT, payload TEXT)");
  run_sql(db, "BEGIN");
  sqlite3_stmt* insert = prepare(db, "INSERT INTO items VALUES(?1, ?2, ?3, ?4)");
  for (int64_t id = 1; id <= rows; id++) {
    char code[CODE_BYTES], name[32];
    write_code(code, id);
    snprintf(name, sizeof name, "name-%lld", (long long)id);
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_text(insert, 2, code, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 4, payload, sizeof payload - 1, SQLITE_STATIC);
    run_statement(insert);
  }
  sqlite3_finalize(insert);
  run_sql(db, "COMMIT");
}

static void run_case(sqlite3* db, const struct options* options, int64_t n, bool texts) {
  char name[64];
  snprintf(name, sizeof name, "in_list/%s_%lld", texts ? "text" : "n", (long long)n);
  const int limit = sqlite3_limit(db, SQLITE_LIMIT_VARIABLE_NUMBER, -1);
  if (options->arm == ARM_rebuilt_in && n > limit) {
    fprintf(stderr, "%s: %s: not available: SQLite binds at most %d variables\n", program, name, limit);
    return;
  }
  const int64_t lists = options->items / n < 3 ? 3 : options->items / n;
  struct id_lists all = make_id_lists(options->rows, lists, n);
  struct method method = {
      .options = options, .db = db, .texts = texts, .words = allocate(1, 128 + (size_t)n * (2 * CODE_BYTES + 3))};
  struct work work = {0};
  start_work(&work);
  if (options->held) run_sql(db, "BEGIN");
  for (int64_t i = 0; i < lists; i++) {
    struct id_list list = {.ids = all.ids + i * n, .codes = (const char* const*)all.codes + i * n, .count = n};
    ask(&method, &list);
  }
  if (options->held) run_sql(db, "COMMIT");
  stop_work(&work);
  sqlite3_finalize(method.reused);
  uint64_t expected = 0;
  for (int64_t i = 0; i < lists * n; i++) expected += row_check(all.ids[i]);
  must_equal(name, method.check, expected);
  print_work(name, &work, lists, options->measure, method.check);
  free(method.words);
  free_id_lists(&all);
}

void run_in_list(const struct options* options) {
  static const int64_t lengths[] = {1, 10, 50, 200, 1000};
  sqlite3* db = open_database(DATABASE_FILE, options->regime);
  fill(db, options->rows);
  for (int i = 0; i < 5; i++) run_case(db, options, lengths[i], false);
  if (options->largest > 1000) run_case(db, options, options->largest, false);
  run_case(db, options, 50, true);
  close_database(db);
}
