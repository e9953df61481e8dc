/* tatp: populates a database, or runs transactions in it and prints what must be the same in every build of SQLite. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tatp.h"

const char program_name[] = "tatp";

static const char* const names[TRANSACTION_KINDS] = {
    "get_subscriber_data", "get_new_destination",    "get_access_data",        "update_subscriber_data",
    "update_location",     "insert_call_forwarding", "delete_call_forwarding",
};

static void print_query(struct database* db, const char* name, const char* sql) {
  sqlite3_stmt* statement = prepare(db, sql);
  step(db, statement);
  printf("%s %s\n", name, (const char*)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
}

/* Counts and sums of what the transactions may have changed, and of what they must not have. */
static void print_state(struct database* db) {
  print_query(db, "subscriber",
              "SELECT count(*)||' '||sum(bit_1)||' '||sum(msc_location)||' '||sum(vlr_location) FROM subscriber");
  print_query(db, "access_info", "SELECT count(*)||' '||sum(data1)||' '||sum(data2) FROM access_info");
  print_query(db, "special_facility", "SELECT count(*)||' '||sum(is_active)||' '||sum(data_a) FROM special_facility");
  print_query(db, "call_forwarding", "SELECT count(*)||' '||sum(start_time)||' '||sum(end_time) FROM call_forwarding");
}

static void run(struct database* db, int64_t subscribers, int64_t transactions, uint64_t seed) {
  struct tatp_counts counts = tatp_run(db, subscribers, transactions, seed);
  for (int i = 0; i < TRANSACTION_KINDS; i++)
    printf("%s %" PRId64 " of %" PRId64 "\n", names[i], counts.successes[i], counts.attempts[i]);
  printf("rows %016" PRIx64 "\n", db->hash);
}

/* What the library says of itself: every option that it was compiled with. */
static void print_options(void) {
  puts(sqlite3_sourceid());
  for (int i = 0; sqlite3_compileoption_get(i); i++) puts(sqlite3_compileoption_get(i));
}

int main(int argc, char** argv) {
  static const char how[] = "populate DB SUBSCRIBERS SEED | run DB SUBSCRIBERS TRANSACTIONS SEED | state DB | options";
  struct database db;
  if (argc == 2 && strcmp(argv[1], "options") == 0) {
    print_options();
    return finish_output();
  }
  if (argc == 5 && strcmp(argv[1], "populate") == 0) {
    int64_t subscribers = parse_number("SUBSCRIBERS", argv[3], 1, 100000000);
    int64_t seed = parse_number("SEED", argv[4], 0, 1000000000);
    open_database(&db, argv[2]);
    tatp_populate(&db, subscribers, (uint64_t)seed);
  } else if (argc == 6 && strcmp(argv[1], "run") == 0) {
    int64_t subscribers = parse_number("SUBSCRIBERS", argv[3], 1, 100000000);
    int64_t transactions = parse_number("TRANSACTIONS", argv[4], 1, 1000000000);
    int64_t seed = parse_number("SEED", argv[5], 0, 1000000000);
    open_database(&db, argv[2]);
    run(&db, subscribers, transactions, (uint64_t)seed);
  } else if (argc == 3 && strcmp(argv[1], "state") == 0) {
    open_database(&db, argv[2]);
    print_state(&db);
  } else {
    usage(how);
  }
  close_database(&db);
  return finish_output();
}
