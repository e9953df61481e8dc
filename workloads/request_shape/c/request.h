/* The two requests. Both return SQLITE_OK and add what they read to `sum`, or return SQLite's error. */
#ifndef REQUEST_H
#define REQUEST_H

#include "database.h"

int admin_item_edit(struct database* db, int64_t item, uint64_t* sum);
/* `i` goes into the title. After an error the transaction is rolled back. */
int admin_item_update(struct database* db, int64_t i, int64_t item, uint64_t* sum);

#endif
