/* --info: what this program really is, as JSON. */
#include "database.h"
#include "modes.h"

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

void print_info(void) {
  putchar('{');
  print_member("runner", RUNNER);
  print_member("language", "C");
  print_member("language_version", COMPILER);
  print_member("driver", "SQLite C API");
  print_member("driver_version", sqlite3_libversion());
  print_member("sqlite_version", sqlite3_libversion());
  print_member("sqlite_source_id", sqlite3_sourceid());
  fputs("\"compile_options\":[", stdout);
  for (int i = 0; sqlite3_compileoption_get(i); i++) {
    if (i) putchar(',');
    print_string(sqlite3_compileoption_get(i));
  }
  printf("],\"statement_cache_size\":%d,\"statement_cache_default\":null,", STATEMENT_COUNT);
  print_string("build_flags");
  putchar(':');
  print_string(BUILD_FLAGS);
  puts("}");
}
