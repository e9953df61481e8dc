/* SQLite with one way to fail: the reason on standard error and exit code 1; the file stays as evidence. */
#ifndef DATABASE_H
#define DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "sqlite3.h"

enum regime { DELETE_FULL, WAL_NORMAL, IN_MEMORY };
extern const char* const regime_names[]; /* ends with NULL */

/* Opens or makes `path` (in memory: a new one each time) and sets journal mode and synchronous, which are read back. */
sqlite3* open_database(const char* path, enum regime regime);
/* As SQLite spells it: "wal". Read back. */
void set_journal_mode(sqlite3* db, const char* mode);
void close_database(sqlite3* db);
void remove_database(const char* path);

void run_sql(sqlite3* db, const char* sql);
sqlite3_stmt* prepare(sqlite3* db, const char* sql);
/* Whether there is a row. */
bool next_row(sqlite3_stmt* statement);
/* Runs a statement that gives no rows, and resets it. */
void run_statement(sqlite3_stmt* statement);
void must_be_ok(sqlite3* db, int rc, const char* what);
/* The first column of the first row. */
int64_t query_number(sqlite3* db, const char* sql);

/* --info: what this program really is, as JSON. `flags` and `sqlite_flags` are those of the build. */
void print_program_info(const char* compiler, const char* flags, const char* sqlite_flags);

#endif
