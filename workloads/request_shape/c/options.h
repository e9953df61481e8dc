/* The command line, the same in every runner. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

enum action { RUN_SEQUENTIAL, RUN_CONCURRENT, TRACE, INFO };
enum load { LOAD_READ, LOAD_WRITE, LOAD_MIXED, LOAD_SINGLE_WRITER };
extern const char* const load_names[];

struct options {
  enum action action;
  int64_t items;
  enum load load;
  int workers;
  int64_t duration_ns, warmup_ns;
  const char* path;     /* of the database */
  int busy_timeout_ms;  /* below 0: that of pragmas.sql */
  int statement_counts; /* print how often each statement ran, on standard error */
};

/* A wrong argument: one line on standard error, exit code 2. */
struct options parse_options(int argc, char** argv);

#endif
