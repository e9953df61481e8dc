/* A connection with its prepared statements. Each is prepared at its first use and kept, unless the shape wants none kept. */
#ifndef DATABASE_H
#define DATABASE_H

#include <stdint.h>
#include <stdio.h>

#include "options.h"
#include "sqlite3.h"

#define RUNNER "c_sqlite"

/* The statements of the requests; the SQL of each is the file sql/<name>.sql. */
// clang-format off
#define STATEMENTS(X)                                                                                             \
  X(begin_immediate) X(commit) X(rollback) X(staff_by_id) X(org_by_slug) X(item_by_org_and_id) X(count_sponsors)  \
  X(count_tags) X(count_taxes) X(sum_parent_chain) X(count_active_fees) X(count_active_products) X(count_addons)  \
  X(fee_by_id) X(org_by_id) X(product_by_id) X(count_fields) X(count_item_fields) X(count_active_discounts)       \
  X(count_discount_items) X(theme_by_id) X(count_notices) X(count_config_issues) X(count_items) X(item_revision)  \
  X(update_item) X(parent_of_org)
// clang-format on

#define ENUMERATOR(name) name,
enum statement { STATEMENTS(ENUMERATOR) STATEMENT_COUNT };
#undef ENUMERATOR

/* How often each statement was prepared, also by SQLite itself, and run. Complete when the connection is closed. */
struct counts {
  int64_t prepared[STATEMENT_COUNT], runs[STATEMENT_COUNT];
};

struct database {
  sqlite3* handle;
  const struct shape* shape;
  struct counts counts;
  sqlite3_stmt* statements[STATEMENT_COUNT];
  FILE* trace; /* when set, every executed statement is printed there */
  const char* request;
  int step;
};

/* A value to bind: text when it is set, else the number. */
struct value {
  int64_t number;
  const char* text;
};
static inline struct value number(int64_t value) {
  return (struct value){.number = value};
}
static inline struct value text(const char* value) {
  return (struct value){.text = value};
}

/* What a query read: its first column as an integer, and the sum of all for the check. */
struct row {
  int64_t first;
  uint64_t sum;
};

/* Opens the database and applies the pragmas. Prints the reason and exits on failure. */
void open_database(struct database* db, const struct options* options);
void close_database(struct database* db);
/* Creates and fills the tables in one transaction. */
void seed_database(struct database* db);
/* The check sum of every row of every table. */
uint64_t sum_every_row(struct database* db);

/* Both return SQLITE_OK or the error. query() reads the first row, NO_ROW when there is none; execute() wants none. */
#define NO_ROW (-1)
int query(struct database* db, enum statement statement, const struct value* values, int count, struct row* row);
int execute(struct database* db, enum statement statement, const struct value* values, int count);
#define BIND(...) \
  (const struct value[]){__VA_ARGS__}, (int)(sizeof((struct value[]){__VA_ARGS__}) / sizeof(struct value))
#define NONE NULL, 0

void add_counts(struct counts* into, const struct counts* other);
/* One line a statement that ran. */
void print_counts(const struct counts* counts, FILE* out);

/* Prints "c_sqlite: <what>: <reason>" and ends the program with exit code 1. */
_Noreturn void fail(struct database* db, const char* what, int rc);

#endif
