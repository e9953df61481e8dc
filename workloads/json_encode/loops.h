/* The two inner loops. Each puts all rows of the statement as an array of arrays and resets it. */
#ifndef LOOPS_H
#define LOOPS_H

#include "database.h"
#include "json.h"

/* sqlite3_column_type, then sqlite3_column_X. */
void encode_by_column(sqlite3_stmt* statement, struct json* json);
/* One sqlite3_column_value, then sqlite3_value_type and sqlite3_value_X. */
void encode_by_value(sqlite3_stmt* statement, struct json* json);

#endif
