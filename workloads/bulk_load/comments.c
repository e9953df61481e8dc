#include "comments.h"

#include <stdio.h>
#include <string.h>

#include "bench.h"

static const char content[] = "A remark of a usual length, about as long as what people write below a picture.";

static void write_hex(char* to, int digits, uint64_t value) {
  for (int i = digits - 1; i >= 0; i--, value >>= 4) to[i] = "0123456789abcdef"[value & 15];
}

struct comment comment_of(int64_t row) {
  struct comment comment;
  struct random random = {.state = (uint64_t)row << 8};
  write_hex(comment.id, 16, random_next(&random));
  write_hex(comment.id + 16, 8, (uint64_t)row); /* the random part alone might repeat */
  comment.creator = random_between(&random, 0, 99999);
  write_hex(comment.reply_to, REPLY_BYTES, (uint64_t)random_between(&random, 0, 999999));
  comment.created = random_between(&random, 1600000000, 1699999999);
  return comment;
}

void create_comments(sqlite3* db) {
  run_sql(db,
          "CREATE TABLE comment(id TEXT PRIMARY KEY, creator INTEGER, reply_to TEXT, created INTEGER, content TEXT);"
          "CREATE INDEX comment_creator ON comment(creator);"
          "CREATE INDEX comment_reply_to ON comment(reply_to);"
          "CREATE INDEX comment_created ON comment(created)");
}

sqlite3_stmt* prepare_insert(sqlite3* db) {
  return prepare(db, "INSERT INTO comment VALUES(?1, ?2, ?3, ?4, ?5)");
}

void insert_comment(sqlite3_stmt* insert, const struct comment* comment) {
  sqlite3_bind_text(insert, 1, comment->id, ID_BYTES, SQLITE_STATIC);
  sqlite3_bind_int64(insert, 2, comment->creator);
  sqlite3_bind_text(insert, 3, comment->reply_to, REPLY_BYTES, SQLITE_STATIC);
  sqlite3_bind_int64(insert, 4, comment->created);
  sqlite3_bind_text(insert, 5, content, sizeof content - 1, SQLITE_STATIC);
  run_statement(insert);
}

static uint64_t digest_comment(uint64_t digest, const struct comment* comment) {
  digest = digest_number(digest_column(digest, comment->id, ID_BYTES), comment->creator);
  digest = digest_number(digest_column(digest, comment->reply_to, REPLY_BYTES), comment->created);
  return digest_row_end(digest_column(digest, content, sizeof content - 1));
}

static uint64_t digest_row(uint64_t digest, sqlite3_stmt* statement) {
  for (int i = 0; i < 5; i++) {
    const void* text = sqlite3_column_text(statement, i);
    digest = digest_column(digest, text, (size_t)sqlite3_column_bytes(statement, i));
  }
  return digest_row_end(digest);
}

/* What only the indexes say: read from each alone, since a query that needs no other column never looks at the table.
 */
static void check_indexes(sqlite3* db, int64_t rows, int64_t creators, int64_t replies, int64_t created) {
  static const struct {
    const char *name, *sum;
  } indexes[] = {
      {"sqlite_autoindex_comment_1",
       "SELECT count(*) FROM comment INDEXED BY sqlite_autoindex_comment_1 WHERE id >= ''"},
      {"comment_creator", "SELECT sum(creator) FROM comment INDEXED BY comment_creator WHERE creator >= 0"},
      {"comment_reply_to",
       "SELECT sum(unicode(substr(reply_to, -1))) FROM comment INDEXED BY comment_reply_to WHERE reply_to >= ''"},
      {"comment_created", "SELECT sum(created) FROM comment INDEXED BY comment_created WHERE created >= 0"}};
  const int64_t expected[] = {rows, creators, replies, created};
  for (int i = 0; i < 4; i++)
    must_equal(indexes[i].name, (uint64_t)query_number(db, indexes[i].sum), (uint64_t)expected[i]);
}

uint64_t check_comments(sqlite3* db, int64_t rows) {
  sqlite3_stmt* statement = prepare(db, "SELECT id, creator, reply_to, created, content FROM comment ORDER BY rowid");
  uint64_t found = DIGEST_START, expected = DIGEST_START;
  int64_t count = 0, creators = 0, replies = 0, created = 0;
  while (next_row(statement)) {
    found = digest_row(found, statement);
    count++;
  }
  sqlite3_finalize(statement);
  must_equal("rows loaded", (uint64_t)count, (uint64_t)rows);
  for (int64_t row = 1; row <= rows; row++) {
    struct comment comment = comment_of(row);
    expected = digest_comment(expected, &comment);
    creators += comment.creator;
    replies += comment.reply_to[REPLY_BYTES - 1];
    created += comment.created;
  }
  must_equal("load", found, expected);
  check_indexes(db, rows, creators, replies, created);
  return found;
}
