#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { NUMBER_BYTES = 32, ESCAPE_BYTES = 6 };

void reserve(struct json* json, size_t more) {
  if (json->size + more <= json->room) return;
  json->room = 2 * (json->size + more);
  json->text = realloc(json->text, json->room);
  if (!json->text) fail("out of memory for %zu bytes of JSON", json->room);
}

static void put_digits(struct json* json, uint64_t value) {
  char digits[NUMBER_BYTES];
  int count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while (value /= 10);
  while (count) put_byte(json, digits[--count]);
}

void put_integer(struct json* json, int64_t value) {
  reserve(json, NUMBER_BYTES);
  if (value < 0) put_byte(json, '-');
  put_digits(json, value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value);
}

void put_real(struct json* json, double value) {
  reserve(json, NUMBER_BYTES);
  char* end = json->text + json->size;
  if (isinf(value)) {
    json->size += (size_t)sprintf(end, "%s1e999", value < 0 ? "-" : "");
  } else if (fabs(value) < 1e15 && value == (double)(int64_t)value) {
    if (signbit(value)) put_byte(json, '-');
    put_digits(json, (uint64_t)fabs(value));
    put_byte(json, '.');
    put_byte(json, '0');
  } else {
    json->size += (size_t)snprintf(end, NUMBER_BYTES, "%.17g", value);
  }
}

static void put_escaped(struct json* json, unsigned char byte) {
  static const char hex[] = "0123456789abcdef";
  put_byte(json, '\\');
  if (byte == '"' || byte == '\\') {
    put_byte(json, (char)byte);
    return;
  }
  memcpy(json->text + json->size, "u00", 3);
  json->size += 3;
  put_byte(json, hex[byte >> 4]);
  put_byte(json, hex[byte & 15]);
}

void put_text(struct json* json, const unsigned char* bytes, size_t size) {
  reserve(json, ESCAPE_BYTES * size + 2);
  put_byte(json, '"');
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] < 0x20 || bytes[i] == '"' || bytes[i] == '\\')
      put_escaped(json, bytes[i]);
    else
      put_byte(json, (char)bytes[i]);
  }
  put_byte(json, '"');
}

void put_blob(struct json* json, const unsigned char* bytes, size_t size) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  reserve(json, (size + 2) / 3 * 4 + 2);
  put_byte(json, '"');
  size_t i = 0;
  for (; i + 3 <= size; i += 3) {
    uint32_t three = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) put_byte(json, letters[three >> shift & 63]);
  }
  if (i < size) {
    uint32_t rest = (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0);
    put_byte(json, letters[rest >> 18 & 63]);
    put_byte(json, letters[rest >> 12 & 63]);
    put_byte(json, i + 1 < size ? letters[rest >> 6 & 63] : '=');
    put_byte(json, '=');
  }
  put_byte(json, '"');
}

void put_null(struct json* json) {
  reserve(json, 4);
  memcpy(json->text + json->size, "null", 4);
  json->size += 4;
}
