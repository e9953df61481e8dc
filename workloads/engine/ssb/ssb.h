/* The Star Schema Benchmark (O'Neil, O'Neil, Chen: Star Schema Benchmark, revision 3, 2009), with a generator of ours.
 */
#ifndef SSB_H
#define SSB_H

#include <stdint.h>

#include "database.h"
#include "random.h"

/* Amounts of rows of a scale factor. */
struct ssb_scale {
  int64_t customers, suppliers, parts, orders;
};

/* `milli_scale`: thousandths of the scale factor. */
struct ssb_scale ssb_scale_of(int64_t milli_scale);

enum { SSB_DAYS = 2557 }; /* 1992-01-01 to 1998-12-31 */

/* The tables date, customer, supplier and part; `days` are the keys of date in their order. */
void ssb_create_dimensions(struct database* db, struct random* random, const struct ssb_scale* scale,
                           int days[SSB_DAYS]);
/* The table lineorder. */
void ssb_create_facts(struct database* db, struct random* random, const struct ssb_scale* scale,
                      const int days[SSB_DAYS]);
/* In cents. */
int64_t ssb_price(int64_t part);

enum { SSB_QUERIES = 13 };
extern const char* const ssb_query_names[SSB_QUERIES]; /* Q1.1 */
extern const char* const ssb_queries[SSB_QUERIES];
extern const char ssb_indexes[];

#endif
