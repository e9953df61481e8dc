/* The Telecommunication Application Transaction Processing benchmark, after its published description (TATP 1.0, 2009).
 */
#ifndef TATP_H
#define TATP_H

#include <stdint.h>

#include "database.h"
#include "random.h"

/* subscriber, access_info, special_facility and call_forwarding of 1 to `subscribers`, in one transaction. */
void tatp_populate(struct database* db, int64_t subscribers, uint64_t seed);

enum transaction {
  GET_SUBSCRIBER_DATA,
  GET_NEW_DESTINATION,
  GET_ACCESS_DATA,
  UPDATE_SUBSCRIBER_DATA,
  UPDATE_LOCATION,
  INSERT_CALL_FORWARDING,
  DELETE_CALL_FORWARDING,
  TRANSACTION_KINDS
};

struct tatp_counts {
  int64_t attempts[TRANSACTION_KINDS], successes[TRANSACTION_KINDS];
};

/* `transactions` of the published mix, one after another. Each writes its own, or nothing. */
struct tatp_counts tatp_run(struct database* db, int64_t subscribers, int64_t transactions, uint64_t seed);

#endif
