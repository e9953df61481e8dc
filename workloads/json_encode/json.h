/* A growing text of JSON. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdint.h>

struct json {
  char* text;
  size_t size, room;
};

/* Room for so many more bytes, which put_byte() does not look for. */
void reserve(struct json* json, size_t more);
static inline void put_byte(struct json* json, char byte) {
  json->text[json->size++] = byte;
}

void put_integer(struct json* json, int64_t value);
/* Whole numbers below 10^15 with ".0", others in 17 digits, infinities as 1e999, which every reader of doubles takes
   for one. NaN is no value of SQLite's. */
void put_real(struct json* json, double value);
/* UTF-8 as it stands; quotes, backslashes and control characters escaped, a NUL inside of the text too. */
void put_text(struct json* json, const unsigned char* bytes, size_t size);
/* As a string in base64 (RFC 4648, section 4). */
void put_blob(struct json* json, const unsigned char* bytes, size_t size);
void put_null(struct json* json);

#endif
