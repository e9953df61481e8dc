#include "database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void fail(struct database* db, const char* what) {
  fprintf(stderr, "%s: %s: %s\n", program_name, what, sqlite3_errmsg(db->handle));
  exit(1);
}

void open_database(struct database* db, const char* path) {
  db->hash = 0xcbf29ce484222325u;
  if (sqlite3_open(path, &db->handle) != SQLITE_OK) fail(db, path);
}

void close_database(struct database* db) {
  if (sqlite3_close(db->handle) != SQLITE_OK) fail(db, "close");
}

void run_script(struct database* db, const char* sql) {
  if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK) fail(db, sql);
}

sqlite3_stmt* prepare(struct database* db, const char* sql) {
  sqlite3_stmt* statement;
  if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK) fail(db, sql);
  return statement;
}

int step(struct database* db, sqlite3_stmt* statement) {
  int rc = sqlite3_step(statement);
  if (rc != SQLITE_ROW && rc != SQLITE_DONE) fail(db, sqlite3_sql(statement));
  return rc == SQLITE_ROW;
}

int execute(struct database* db, sqlite3_stmt* statement) {
  while (step(db, statement)) {
  }
  sqlite3_reset(statement);
  return sqlite3_changes(db->handle);
}

void bind_int(sqlite3_stmt* statement, int place, int64_t value) {
  sqlite3_bind_int64(statement, place, value);
}

void bind_text(sqlite3_stmt* statement, int place, const char* text) {
  sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

static uint64_t fnv1a(uint64_t hash, const unsigned char* bytes, int size) {
  for (int i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

void hash_row(struct database* db, sqlite3_stmt* statement) {
  for (int i = 0, columns = sqlite3_column_count(statement); i < columns; i++) {
    const unsigned char* text = sqlite3_column_text(statement, i);
    db->hash = fnv1a(db->hash, text, sqlite3_column_bytes(statement, i));
    db->hash = fnv1a(db->hash, (const unsigned char*)"|", 1);
  }
  db->hash = fnv1a(db->hash, (const unsigned char*)"\n", 1);
}

_Noreturn void usage(const char* how) {
  fprintf(stderr, "%s: usage: %s %s\n", program_name, program_name, how);
  exit(2);
}

int64_t parse_number(const char* what, const char* text, int64_t low, int64_t high) {
  int64_t value = 0;
  size_t digits = strspn(text, "0123456789");
  int good = digits > 0 && digits <= 15 && !text[digits];
  for (size_t i = 0; good && i < digits; i++) value = value * 10 + (text[i] - '0');
  if (good && value >= low && value <= high) return value;
  fprintf(stderr, "%s: %s: '%s' is not a whole number from %lld to %lld\n", program_name, what, text, (long long)low,
          (long long)high);
  exit(2);
}

int finish_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
  fprintf(stderr, "%s: standard output: it could not be written in full\n", program_name);
  return 1;
}
