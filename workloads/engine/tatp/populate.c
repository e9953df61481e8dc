/* The population of TATP. */
#include <string.h>

#include "tatp.h"

static const char schema[] =
    "CREATE TABLE subscriber(s_id INTEGER PRIMARY KEY, sub_nbr TEXT NOT NULL UNIQUE,"
    " bit_1 INT, bit_2 INT, bit_3 INT, bit_4 INT, bit_5 INT, bit_6 INT, bit_7 INT, bit_8 INT, bit_9 INT, bit_10 INT,"
    " hex_1 INT, hex_2 INT, hex_3 INT, hex_4 INT, hex_5 INT, hex_6 INT, hex_7 INT, hex_8 INT, hex_9 INT, hex_10 INT,"
    " byte2_1 INT, byte2_2 INT, byte2_3 INT, byte2_4 INT, byte2_5 INT, byte2_6 INT, byte2_7 INT, byte2_8 INT,"
    " byte2_9 INT, byte2_10 INT, msc_location INT, vlr_location INT);"
    "CREATE TABLE access_info(s_id INT NOT NULL REFERENCES subscriber, ai_type INT NOT NULL, data1 INT, data2 INT,"
    " data3 TEXT, data4 TEXT, PRIMARY KEY(s_id, ai_type));"
    "CREATE TABLE special_facility(s_id INT NOT NULL REFERENCES subscriber, sf_type INT NOT NULL, is_active INT,"
    " error_cntrl INT, data_a INT, data_b TEXT, PRIMARY KEY(s_id, sf_type));"
    "CREATE TABLE call_forwarding(s_id INT NOT NULL, sf_type INT NOT NULL, start_time INT NOT NULL, end_time INT,"
    " numberx TEXT, PRIMARY KEY(s_id, sf_type, start_time),"
    " FOREIGN KEY(s_id, sf_type) REFERENCES special_facility(s_id, sf_type));";

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", digits[] = "0123456789";
/* The last column of each group of ten. */
enum { BITS = 10, HEXES = 10, BYTES = 10 };

struct inserts {
  sqlite3_stmt *subscriber, *access_info, *special_facility, *call_forwarding;
};

/* Moves a random one of values[place], values[place + 1], ... values[count - 1] to `place`: places 0, 1, ... so filled
 * are a random choice without repetition. */
static int choose(struct random* random, int* values, int place, int count) {
  int64_t other = random_between(random, place, count - 1);
  int chosen = values[other];
  values[other] = values[place];
  return values[place] = chosen;
}

static void add_subscriber(struct database* db, const struct inserts* inserts, struct random* random, int64_t s_id) {
  sqlite3_stmt* insert = inserts->subscriber;
  char sub_nbr[16];
  int column = 1;
  sqlite3_snprintf(sizeof sub_nbr, sub_nbr, "%015lld", (long long)s_id);
  bind_int(insert, column++, s_id);
  bind_text(insert, column++, sub_nbr);
  for (int i = 0; i < BITS; i++) bind_int(insert, column++, random_between(random, 0, 1));
  for (int i = 0; i < HEXES; i++) bind_int(insert, column++, random_between(random, 0, 15));
  for (int i = 0; i < BYTES; i++) bind_int(insert, column++, random_between(random, 0, 255));
  bind_int(insert, column++, random_between(random, 1, INT32_MAX));
  bind_int(insert, column++, random_between(random, 1, INT32_MAX));
  execute(db, insert);
}

static void add_access_info(struct database* db, const struct inserts* inserts, struct random* random, int64_t s_id) {
  sqlite3_stmt* insert = inserts->access_info;
  int types[] = {1, 2, 3, 4};
  int64_t count = random_between(random, 1, 4);
  for (int i = 0; i < count; i++) {
    char data3[4], data4[6];
    bind_int(insert, 1, s_id);
    bind_int(insert, 2, choose(random, types, i, 4));
    bind_int(insert, 3, random_between(random, 0, 255));
    bind_int(insert, 4, random_between(random, 0, 255));
    random_text(random, data3, 3, letters, 26);
    random_text(random, data4, 5, letters, 26);
    bind_text(insert, 5, data3);
    bind_text(insert, 6, data4);
    execute(db, insert);
  }
}

static void add_call_forwarding(struct database* db, const struct inserts* inserts, struct random* random, int64_t s_id,
                                int sf_type) {
  sqlite3_stmt* insert = inserts->call_forwarding;
  int starts[] = {0, 8, 16};
  int64_t count = random_between(random, 0, 3);
  for (int i = 0; i < count; i++) {
    char numberx[16];
    int start = choose(random, starts, i, 3);
    bind_int(insert, 1, s_id);
    bind_int(insert, 2, sf_type);
    bind_int(insert, 3, start);
    bind_int(insert, 4, start + random_between(random, 1, 8));
    random_text(random, numberx, 15, digits, 10);
    bind_text(insert, 5, numberx);
    execute(db, insert);
  }
}

static void add_special_facility(struct database* db, const struct inserts* inserts, struct random* random,
                                 int64_t s_id) {
  sqlite3_stmt* insert = inserts->special_facility;
  int types[] = {1, 2, 3, 4};
  int64_t count = random_between(random, 1, 4);
  for (int i = 0; i < count; i++) {
    char data_b[6];
    int sf_type = choose(random, types, i, 4);
    bind_int(insert, 1, s_id);
    bind_int(insert, 2, sf_type);
    bind_int(insert, 3, random_between(random, 1, 100) <= 85);
    bind_int(insert, 4, random_between(random, 0, 255));
    bind_int(insert, 5, random_between(random, 0, 255));
    random_text(random, data_b, 5, letters, 26);
    bind_text(insert, 6, data_b);
    execute(db, insert);
    add_call_forwarding(db, inserts, random, s_id, sf_type);
  }
}

void tatp_populate(struct database* db, int64_t subscribers, uint64_t seed) {
  struct random random = {seed};
  run_script(db, "BEGIN");
  run_script(db, schema);
  char subscriber[128] = "INSERT INTO subscriber VALUES(?";
  for (int i = 1; i < 2 + BITS + HEXES + BYTES + 2; i++) strcat(subscriber, ",?");
  strcat(subscriber, ")");
  struct inserts inserts = {prepare(db, subscriber), prepare(db, "INSERT INTO access_info VALUES(?,?,?,?,?,?)"),
                            prepare(db, "INSERT INTO special_facility VALUES(?,?,?,?,?,?)"),
                            prepare(db, "INSERT INTO call_forwarding VALUES(?,?,?,?,?)")};
  for (int64_t s_id = 1; s_id <= subscribers; s_id++) {
    add_subscriber(db, &inserts, &random, s_id);
    add_access_info(db, &inserts, &random, s_id);
    add_special_facility(db, &inserts, &random, s_id);
  }
  sqlite3_finalize(inserts.subscriber);
  sqlite3_finalize(inserts.access_info);
  sqlite3_finalize(inserts.special_facility);
  sqlite3_finalize(inserts.call_forwarding);
  run_script(db, "COMMIT");
}
