/* What tatp and ssb ask of SQLite. Whatever fails ends the program with exit code 1 and one line on standard error. */
#ifndef DATABASE_H
#define DATABASE_H

#include <stdint.h>

#include "sqlite3.h"

/* Of the program, for its messages. */
extern const char program_name[];

struct database {
  sqlite3* handle;
  uint64_t hash; /* FNV-1a-64 of the text of every row read with hash_row */
};

void open_database(struct database* db, const char* path);
/* All statements must be finalized. */
void close_database(struct database* db);

void run_script(struct database* db, const char* sql);
sqlite3_stmt* prepare(struct database* db, const char* sql);
/* 1: a row; 0: the end. */
int step(struct database* db, sqlite3_stmt* statement);
/* To the end and back to the start; returns how many rows it changed. */
int execute(struct database* db, sqlite3_stmt* statement);

void bind_int(sqlite3_stmt* statement, int place, int64_t value);
/* `text` must live until the statement is reset. */
void bind_text(sqlite3_stmt* statement, int place, const char* text);

/* Takes the row into db->hash: the text of each column and '|' after it, a line feed at the end. */
void hash_row(struct database* db, sqlite3_stmt* statement);

/* A decimal number from `low` to `high`; anything else ends the program with exit code 2. */
int64_t parse_number(const char* what, const char* text, int64_t low, int64_t high);
_Noreturn void usage(const char* how);
/* Exit code of main: 1 when standard output did not arrive in full. */
int finish_output(void);

#endif
