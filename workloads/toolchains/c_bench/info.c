#include <stdio.h>

#include "bench.h"
#include "database.h"

static void print_string(const char* value) {
  putchar('"');
  for (; *value; value++) {
    if (*value == '"' || *value == '\\') putchar('\\');
    putchar(*value);
  }
  putchar('"');
}

static void print_member(const char* name, const char* value) {
  print_string(name);
  putchar(':');
  print_string(value);
  putchar(',');
}

/* Whether the build has a table-valued function: asked for by using it. */
static const char* has_function(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = NULL;
  int rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
  sqlite3_finalize(statement);
  return rc == SQLITE_OK ? "true" : "false";
}

void print_program_info(const char* compiler, const char* flags, const char* sqlite_flags) {
  sqlite3* db = open_database(":memory:", IN_MEMORY);
  putchar('{');
  print_member("runner", program);
  print_member("language", "C");
  print_member("language_version", compiler);
  print_member("driver", "SQLite C API");
  print_member("driver_version", sqlite3_libversion());
  print_member("sqlite_version", sqlite3_libversion());
  print_member("sqlite_source_id", sqlite3_sourceid());
  print_member("build_flags", flags);
  print_member("sqlite_flags", sqlite_flags);
  printf("\"json_each\":%s,", has_function(db, "SELECT * FROM json_each('[]')"));
  printf("\"carray\":%s,", has_function(db, "SELECT * FROM carray(?1)"));
  printf("\"generate_series\":%s,", has_function(db, "SELECT * FROM generate_series(1, 2)"));
  printf("\"fts5\":%s,", sqlite3_compileoption_used("ENABLE_FTS5") ? "true" : "false");
  fputs("\"compile_options\":[", stdout);
  for (int i = 0; sqlite3_compileoption_get(i); i++) {
    if (i) putchar(',');
    print_string(sqlite3_compileoption_get(i));
  }
  puts("]}");
  close_database(db);
}
