/* What is encoded: a table for each kind of values. */
#ifndef LANES_H
#define LANES_H

#include "database.h"

enum lane {
  INT_6,
  INT_64,
  REAL_INTEGRAL,
  REAL_FRACTIONAL,
  WIDE,
  TEXT_SHORT,
  TEXT_LONG,
  BLOBS,
  ONE_ROW,
  EDGES,
  LANE_COUNT
};
extern const char* const lane_names[]; /* ends with NULL */

struct shape {
  int64_t rows, columns;
};
/* The table's shape where a usual one has `rows` and `columns`. */
struct shape shape_of(enum lane lane, int64_t rows, int64_t columns);
/* Makes the table t. EDGES has a row for each value that an encoder may get wrong. */
void fill_lane(sqlite3* db, enum lane lane, struct shape shape);

#endif
