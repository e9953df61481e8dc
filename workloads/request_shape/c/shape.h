/* What of the request shape can be changed; the flags are those of ../sql/README.md. */
#ifndef SHAPE_H
#define SHAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum parent_lookup { LOOKUP_RECURSIVE, LOOKUP_APPLICATION };
/* CACHE_DEFAULT is CACHE_FITS here: SQLite's own API keeps no statements, so that a program has to. */
enum statement_cache { CACHE_FITS, CACHE_DEFAULT, CACHE_NONE };

struct shape {
  int rows; /* factor on the tables that grow */
  int extra_tables, extra_indexes;
  int reads, writes; /* of a request */
  enum parent_lookup parent_lookup;
  enum statement_cache statement_cache;
};

extern const struct shape default_shape;
extern const char shape_help[];

bool is_shape_flag(const char* flag);
/* Takes one of these flags and its value. A wrong value ends the program as in parse_options(). */
void parse_shape_flag(const char* flag, const char* value, struct shape* shape);
/* The trace's first line; nothing for the default shape. */
void print_shape(const struct shape* shape, FILE* out);
/* How many items there are: requests take them in turn. */
static inline int64_t item_count(const struct shape* shape) {
  return 100 * (int64_t)shape->rows;
}

#endif
