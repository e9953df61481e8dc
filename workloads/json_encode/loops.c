#include "loops.h"

static void put_column(sqlite3_stmt* statement, int i, struct json* json) {
  switch (sqlite3_column_type(statement, i)) {
    case SQLITE_INTEGER:
      put_integer(json, sqlite3_column_int64(statement, i));
      break;
    case SQLITE_FLOAT:
      put_real(json, sqlite3_column_double(statement, i));
      break;
    case SQLITE_TEXT: {
      /* The text first: asking for it may convert the value, which changes its size. */
      const unsigned char* text = sqlite3_column_text(statement, i);
      put_text(json, text, (size_t)sqlite3_column_bytes(statement, i));
      break;
    }
    case SQLITE_BLOB: {
      const void* blob = sqlite3_column_blob(statement, i);
      put_blob(json, blob, (size_t)sqlite3_column_bytes(statement, i));
      break;
    }
    default:
      put_null(json);
  }
}

static void put_value(sqlite3_stmt* statement, int i, struct json* json) {
  sqlite3_value* value = sqlite3_column_value(statement, i);
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      put_integer(json, sqlite3_value_int64(value));
      break;
    case SQLITE_FLOAT:
      put_real(json, sqlite3_value_double(value));
      break;
    case SQLITE_TEXT: {
      const unsigned char* text = sqlite3_value_text(value); /* first, as above */
      put_text(json, text, (size_t)sqlite3_value_bytes(value));
      break;
    }
    case SQLITE_BLOB: {
      const void* blob = sqlite3_value_blob(value);
      put_blob(json, blob, (size_t)sqlite3_value_bytes(value));
      break;
    }
    default:
      put_null(json);
  }
}

/* Copied into each of the two loops, so that both call nothing but SQLite and the encoder. */
static inline __attribute__((always_inline)) void encode(sqlite3_stmt* statement, struct json* json,
                                                         void (*put)(sqlite3_stmt*, int, struct json*)) {
  const int columns = sqlite3_column_count(statement);
  char before_row = '[';
  json->size = 0;
  while (next_row(statement)) {
    reserve(json, 2);
    put_byte(json, before_row);
    before_row = ',';
    char before = '[';
    for (int i = 0; i < columns; i++) {
      reserve(json, 1);
      put_byte(json, before);
      before = ',';
      put(statement, i, json);
    }
    reserve(json, 1);
    put_byte(json, ']');
  }
  reserve(json, 1);
  put_byte(json, ']');
  sqlite3_reset(statement);
}

void encode_by_column(sqlite3_stmt* statement, struct json* json) {
  encode(statement, json, put_column);
}

void encode_by_value(sqlite3_stmt* statement, struct json* json) {
  encode(statement, json, put_value);
}
