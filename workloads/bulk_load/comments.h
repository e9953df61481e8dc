/* The table that is loaded. A row follows from its number alone, so that any one can be asked for again. */
#ifndef COMMENTS_H
#define COMMENTS_H

#include "database.h"

enum { ID_BYTES = 24, REPLY_BYTES = 16 };

struct comment {
  char id[ID_BYTES]; /* in no order: each row lands anywhere in the index of the key */
  int64_t creator;
  char reply_to[REPLY_BYTES];
  int64_t created;
};

struct comment comment_of(int64_t row); /* from 1 */
void create_comments(sqlite3* db);
sqlite3_stmt* prepare_insert(sqlite3* db);
void insert_comment(sqlite3_stmt* insert, const struct comment* comment);

/* Reads the whole table, compares every row and the contents of every index with what must be there (else fail()), and
   gives the digest of the rows in the order of their numbers. */
uint64_t check_comments(sqlite3* db, int64_t rows);

#endif
