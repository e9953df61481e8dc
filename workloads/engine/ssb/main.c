/* ssb: makes a star schema, or asks it the 13 queries and prints what must be the same in every build of SQLite. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ssb.h"

const char program_name[] = "ssb";

static void populate(struct database* db, int64_t milli_scale, uint64_t seed, int indexes) {
  struct random random = {seed};
  struct ssb_scale scale = ssb_scale_of(milli_scale);
  int days[SSB_DAYS];
  run_script(db, "BEGIN");
  ssb_create_dimensions(db, &random, &scale, days);
  ssb_create_facts(db, &random, &scale, days);
  run_script(db, "COMMIT");
  if (indexes) run_script(db, ssb_indexes);
}

static void run_query(struct database* db, int query, int print) {
  uint64_t start = db->hash;
  int64_t rows = 0;
  sqlite3_stmt* statement = prepare(db, ssb_queries[query]);
  for (; step(db, statement); rows++) hash_row(db, statement);
  sqlite3_finalize(statement);
  if (print) printf("%s %" PRId64 " rows %016" PRIx64 "\n", ssb_query_names[query], rows, db->hash);
  db->hash = start;
}

int main(int argc, char** argv) {
  static const char how[] = "populate DB MILLI_SCALE SEED [bare] | run DB ROUNDS";
  struct database db;
  int bare = argc == 6 && strcmp(argv[5], "bare") == 0;
  if ((argc == 5 || bare) && strcmp(argv[1], "populate") == 0) {
    int64_t milli_scale = parse_number("MILLI_SCALE", argv[3], 1, 100000);
    int64_t seed = parse_number("SEED", argv[4], 0, 1000000000);
    open_database(&db, argv[2]);
    populate(&db, milli_scale, (uint64_t)seed, !bare);
  } else if (argc == 4 && strcmp(argv[1], "run") == 0) {
    int64_t rounds = parse_number("ROUNDS", argv[3], 1, 1000000);
    open_database(&db, argv[2]);
    for (int64_t round = 1; round <= rounds; round++)
      for (int query = 0; query < SSB_QUERIES; query++) run_query(&db, query, round == rounds);
  } else {
    usage(how);
  }
  close_database(&db);
  return finish_output();
}
