/* What is measured and how it is printed: the contract's generic format, on standard output. */
#ifndef ROWS_H
#define ROWS_H

#include <stdint.h>

#include "calls.h"

enum measure { MEASURE_TIME, MEASURE_COUNTS };
extern const char* const measure_names[]; /* ends with NULL */

/* Between start_work() and stop_work(): what the work took. stop_work() adds, so that work in pieces adds up. */
struct work {
  int64_t wall_ns, cpu_ns;
  struct calls calls;
  int64_t started_wall_ns, started_cpu_ns;
  struct calls started_calls;
};
void start_work(struct work* work);
void stop_work(struct work* work);

void print_header(void);
/* `decimals` places of the value; `better` is lower, higher or none; no check where `check` is NULL. */
void print_value(const char* name, const char* metric, const char* unit, double value, int decimals, const char* better,
                 const uint64_t* check);
/* time and cpu of one operation in ns, or the calls of all of them. */
void print_work(const char* name, const struct work* work, int64_t operations, enum measure measure, uint64_t check);

#endif
