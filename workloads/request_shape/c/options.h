/* The command line, the same in every runner. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

#include "shape.h"

enum action { RUN_SEQUENTIAL, RUN_CONCURRENT, TRACE, INFO, HISTOGRAM };
enum load { LOAD_READ, LOAD_WRITE, LOAD_MIXED, LOAD_SINGLE_WRITER, LOAD_OPEN_READ };
extern const char* const load_names[];

struct options {
  enum action action;
  struct shape shape;
  int64_t items;
  enum load load;
  int workers;
  int64_t rate; /* open_read: requests a second of all workers */
  int64_t duration_ns, warmup_ns;
  const char* path;     /* of the database */
  int busy_timeout_ms;  /* below 0: that of pragmas.sql */
  int statement_counts; /* print how often each statement was prepared and ran, on standard error */
};

/* What SQLite leaves beside a database: nothing, the log, its index. */
extern const char* const database_suffixes[3];

/* A wrong argument: one line on standard error, exit code 2. */
struct options parse_options(int argc, char** argv);
/* A decimal number of digits only, from `min` to `max`. */
int64_t parse_number(const char* flag, const char* text, int64_t min, int64_t max);
/* The index of `text` among `choices`, whose end is NULL. */
int parse_choice(const char* flag, const char* text, const char* const* choices);

#endif
