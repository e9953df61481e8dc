/* The seven transactions of TATP and their mix. */
#include "tatp.h"

/* Each with its share in percent, in the order of enum transaction. */
static const int mix[TRANSACTION_KINDS] = {35, 10, 35, 2, 14, 2, 2};

#define STATEMENTS(X)                                                                                      \
  X(subscriber, "SELECT * FROM subscriber WHERE s_id = ?1")                                                \
  X(destination,                                                                                           \
    "SELECT cf.numberx FROM special_facility AS sf, call_forwarding AS cf"                                 \
    " WHERE sf.s_id = ?1 AND sf.sf_type = ?2 AND sf.is_active = 1 AND cf.s_id = sf.s_id"                   \
    " AND cf.sf_type = sf.sf_type AND cf.start_time <= ?3 AND ?4 < cf.end_time")                           \
  X(access, "SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = ?1 AND ai_type = ?2")         \
  X(set_bit, "UPDATE subscriber SET bit_1 = ?2 WHERE s_id = ?1")                                           \
  X(set_data, "UPDATE special_facility SET data_a = ?3 WHERE s_id = ?1 AND sf_type = ?2")                  \
  X(set_location, "UPDATE subscriber SET vlr_location = ?2 WHERE sub_nbr = ?1")                            \
  X(find_subscriber, "SELECT s_id FROM subscriber WHERE sub_nbr = ?1")                                     \
  X(find_facilities, "SELECT sf_type FROM special_facility WHERE s_id = ?1")                               \
  X(insert_forwarding, "INSERT OR IGNORE INTO call_forwarding VALUES(?1, ?2, ?3, ?4, ?5)")                 \
  X(delete_forwarding, "DELETE FROM call_forwarding WHERE s_id = ?1 AND sf_type = ?2 AND start_time = ?3") \
  X(begin, "BEGIN IMMEDIATE")                                                                              \
  X(commit, "COMMIT")                                                                                      \
  X(rollback, "ROLLBACK")

struct session {
  struct database* db;
  struct random random;
  int64_t subscribers, key_mask;
#define MEMBER(name, sql) sqlite3_stmt* name;
  STATEMENTS(MEMBER)
#undef MEMBER
};

/* The published non-uniform key: some subscribers are asked for more often than others. */
static int64_t random_subscriber(struct session* session) {
  int64_t low = random_between(&session->random, 0, session->key_mask);
  int64_t any = random_between(&session->random, 1, session->subscribers);
  return (low | any) % session->subscribers + 1;
}

static int64_t random_type(struct session* session) {
  return random_between(&session->random, 1, 4);
}
static int64_t random_start(struct session* session) {
  return 8 * random_between(&session->random, 0, 2);
}

/* Reads and hashes every row; returns how many there were. */
static int64_t read_rows(struct session* session, sqlite3_stmt* statement) {
  int64_t rows = 0;
  for (; step(session->db, statement); rows++) hash_row(session->db, statement);
  sqlite3_reset(statement);
  return rows;
}

static int end(struct session* session, int good) {
  execute(session->db, good ? session->commit : session->rollback);
  return good;
}

static int get_subscriber_data(struct session* session, int64_t s_id) {
  bind_int(session->subscriber, 1, s_id);
  return read_rows(session, session->subscriber) > 0;
}

static int get_new_destination(struct session* session, int64_t s_id) {
  bind_int(session->destination, 1, s_id);
  bind_int(session->destination, 2, random_type(session));
  bind_int(session->destination, 3, random_start(session));
  bind_int(session->destination, 4, random_between(&session->random, 1, 24));
  return read_rows(session, session->destination) > 0;
}

static int get_access_data(struct session* session, int64_t s_id) {
  bind_int(session->access, 1, s_id);
  bind_int(session->access, 2, random_type(session));
  return read_rows(session, session->access) > 0;
}

static int update_subscriber_data(struct session* session, int64_t s_id) {
  execute(session->db, session->begin);
  bind_int(session->set_bit, 1, s_id);
  bind_int(session->set_bit, 2, random_between(&session->random, 0, 1));
  execute(session->db, session->set_bit);
  bind_int(session->set_data, 1, s_id);
  bind_int(session->set_data, 2, random_type(session));
  bind_int(session->set_data, 3, random_between(&session->random, 0, 255));
  return end(session, execute(session->db, session->set_data) == 1);
}

static int update_location(struct session* session, const char* sub_nbr) {
  bind_text(session->set_location, 1, sub_nbr);
  bind_int(session->set_location, 2, random_between(&session->random, 1, INT32_MAX));
  return execute(session->db, session->set_location) == 1;
}

static int64_t find_subscriber(struct session* session, const char* sub_nbr) {
  bind_text(session->find_subscriber, 1, sub_nbr);
  int64_t s_id = step(session->db, session->find_subscriber) ? sqlite3_column_int64(session->find_subscriber, 0) : 0;
  sqlite3_reset(session->find_subscriber);
  return s_id;
}

static int insert_call_forwarding(struct session* session, const char* sub_nbr) {
  int64_t sf_type = random_type(session), start = random_start(session);
  int64_t last = start + random_between(&session->random, 1, 8);
  char numberx[16];
  random_text(&session->random, numberx, 15, "0123456789", 10);
  execute(session->db, session->begin);
  int64_t s_id = find_subscriber(session, sub_nbr);
  bind_int(session->find_facilities, 1, s_id);
  int exists = 0;
  while (step(session->db, session->find_facilities)) {
    hash_row(session->db, session->find_facilities);
    exists |= sqlite3_column_int64(session->find_facilities, 0) == sf_type;
  }
  sqlite3_reset(session->find_facilities);
  /* A facility that does not exist cannot be forwarded: the foreign key's rule, which SQLite does not enforce unasked.
   */
  if (!exists) return end(session, 0);
  bind_int(session->insert_forwarding, 1, s_id);
  bind_int(session->insert_forwarding, 2, sf_type);
  bind_int(session->insert_forwarding, 3, start);
  bind_int(session->insert_forwarding, 4, last);
  bind_text(session->insert_forwarding, 5, numberx);
  return end(session, execute(session->db, session->insert_forwarding) == 1);
}

static int delete_call_forwarding(struct session* session, const char* sub_nbr) {
  int64_t sf_type = random_type(session), start = random_start(session);
  execute(session->db, session->begin);
  int64_t s_id = find_subscriber(session, sub_nbr);
  bind_int(session->delete_forwarding, 1, s_id);
  bind_int(session->delete_forwarding, 2, sf_type);
  bind_int(session->delete_forwarding, 3, start);
  return end(session, execute(session->db, session->delete_forwarding) == 1);
}

static enum transaction random_transaction(struct session* session) {
  int64_t percent = random_between(&session->random, 1, 100);
  int kind = 0;
  for (int sum = mix[0]; percent > sum; sum += mix[kind]) kind++;
  return (enum transaction)kind;
}

static int run_one(struct session* session, enum transaction kind) {
  int64_t s_id = random_subscriber(session);
  char sub_nbr[16];
  sqlite3_snprintf(sizeof sub_nbr, sub_nbr, "%015lld", (long long)s_id);
  switch (kind) {
    case GET_SUBSCRIBER_DATA:
      return get_subscriber_data(session, s_id);
    case GET_NEW_DESTINATION:
      return get_new_destination(session, s_id);
    case GET_ACCESS_DATA:
      return get_access_data(session, s_id);
    case UPDATE_SUBSCRIBER_DATA:
      return update_subscriber_data(session, s_id);
    case UPDATE_LOCATION:
      return update_location(session, sub_nbr);
    case INSERT_CALL_FORWARDING:
      return insert_call_forwarding(session, sub_nbr);
    default:
      return delete_call_forwarding(session, sub_nbr);
  }
}

struct tatp_counts tatp_run(struct database* db, int64_t subscribers, int64_t transactions, uint64_t seed) {
  struct tatp_counts counts = {0};
  struct session session = {.db = db, .random = {seed ^ 0xabcdef}, .subscribers = subscribers};
  session.key_mask = subscribers <= 1000000 ? 65535 : subscribers <= 10000000 ? 1048575 : 2097151;
#define PREPARE(name, sql) session.name = prepare(db, sql);
  STATEMENTS(PREPARE)
#undef PREPARE
  for (int64_t i = 0; i < transactions; i++) {
    enum transaction kind = random_transaction(&session);
    counts.attempts[kind]++;
    counts.successes[kind] += run_one(&session, kind);
  }
#define FINALIZE(name, sql) sqlite3_finalize(session.name);
  STATEMENTS(FINALIZE)
#undef FINALIZE
  return counts;
}
