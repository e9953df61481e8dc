/* The fact table: orders of one to seven lines. */
#include "ssb.h"

static const char fact_schema[] =
    "CREATE TABLE lineorder(lo_orderkey INT, lo_linenumber INT, lo_custkey INT, lo_partkey INT, lo_suppkey INT,"
    " lo_orderdate INT, lo_orderpriority TEXT, lo_shippriority INT, lo_quantity INT, lo_extendedprice INT,"
    " lo_ordtotalprice INT, lo_discount INT, lo_revenue INT, lo_supplycost INT, lo_tax INT, lo_commitdate INT,"
    " lo_shipmode TEXT, PRIMARY KEY(lo_orderkey, lo_linenumber));";

static const char* const priorities[5] = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI", "5-LOW"};
static const char* const ship_modes[7] = {"REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"};

enum { LINES = 7, LONGEST_COMMIT = 90, DAYS_TO_SHIP = 151 /* orders end that long before the last day */ };

struct line {
  int64_t part, supplier, quantity, discount, tax, commit_days, ship_mode, extended;
};

static struct line random_line(struct random* random, const struct ssb_scale* scale) {
  struct line line;
  line.part = random_between(random, 1, scale->parts);
  line.supplier = random_between(random, 1, scale->suppliers);
  line.quantity = random_between(random, 1, 50);
  line.discount = random_between(random, 0, 10);
  line.tax = random_between(random, 0, 8);
  line.commit_days = random_between(random, 30, LONGEST_COMMIT);
  line.ship_mode = random_between(random, 0, 6);
  line.extended = line.quantity * ssb_price(line.part);
  return line;
}

static int64_t random_customer(struct random* random, const struct ssb_scale* scale) {
  int64_t customer;
  do customer = random_between(random, 1, scale->customers);
  while (customer % 3 == 0); /* a third of them places no orders */
  return customer;
}

static void add_order(struct database* db, sqlite3_stmt* insert, struct random* random, const struct ssb_scale* scale,
                      const int days[SSB_DAYS], int64_t order) {
  struct line lines[LINES];
  int64_t customer = random_customer(random, scale), total = 0;
  int64_t day = random_between(random, 0, SSB_DAYS - 1 - DAYS_TO_SHIP);
  int64_t priority = random_between(random, 0, 4);
  int64_t count = random_between(random, 1, LINES);
  for (int i = 0; i < count; i++) {
    lines[i] = random_line(random, scale);
    total += lines[i].extended * (100 - lines[i].discount) / 100 * (100 + lines[i].tax) / 100;
  }
  for (int i = 0; i < count; i++) {
    const struct line* line = &lines[i];
    bind_int(insert, 1, order / 8 * 32 + order % 8); /* keys have gaps: eight are used of 32 */
    bind_int(insert, 2, i + 1);
    bind_int(insert, 3, customer);
    bind_int(insert, 4, line->part);
    bind_int(insert, 5, line->supplier);
    bind_int(insert, 6, days[day]);
    bind_text(insert, 7, priorities[priority]);
    bind_int(insert, 8, 0);
    bind_int(insert, 9, line->quantity);
    bind_int(insert, 10, line->extended);
    bind_int(insert, 11, total);
    bind_int(insert, 12, line->discount);
    bind_int(insert, 13, line->extended * (100 - line->discount) / 100);
    bind_int(insert, 14, 6 * ssb_price(line->part) / 10);
    bind_int(insert, 15, line->tax);
    bind_int(insert, 16, days[day + line->commit_days]);
    bind_text(insert, 17, ship_modes[line->ship_mode]);
    execute(db, insert);
  }
}

void ssb_create_facts(struct database* db, struct random* random, const struct ssb_scale* scale,
                      const int days[SSB_DAYS]) {
  run_script(db, fact_schema);
  sqlite3_stmt* insert = prepare(db, "INSERT INTO lineorder VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (int64_t order = 1; order <= scale->orders; order++) add_order(db, insert, random, scale, days, order);
  sqlite3_finalize(insert);
}
