#include "id_lists.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

void write_code(char* code, int64_t id) {
  snprintf(code, CODE_BYTES, "c\"%lld\\'%lld", (long long)(id % 7), (long long)id);
}

struct id_lists make_id_lists(int64_t rows, int64_t lists, int64_t n) {
  const size_t all = (size_t)(lists * n);
  struct id_lists made = {.ids = allocate(all, sizeof *made.ids),
                          .codes = allocate(all, sizeof *made.codes),
                          .texts = allocate(all, CODE_BYTES)};
  int64_t* pool = allocate((size_t)rows, sizeof *pool);
  for (int64_t i = 0; i < rows; i++) pool[i] = i + 1;
  struct random random = {.state = (uint64_t)n};
  for (int64_t list = 0; list < lists; list++)
    for (int64_t i = 0; i < n; i++) { /* the first n places of a shuffle that is begun anew for each list */
      int64_t other = random_between(&random, i, rows - 1), id = pool[other];
      pool[other] = pool[i];
      pool[i] = id;
      size_t place = (size_t)(list * n + i);
      made.ids[place] = id;
      made.codes[place] = made.texts + place * CODE_BYTES;
      write_code(made.codes[place], id);
    }
  free(pool);
  return made;
}

void free_id_lists(struct id_lists* lists) {
  free(lists->ids);
  free(lists->codes);
  free(lists->texts);
}

static char* write_number(char* to, int64_t id) {
  char digits[24];
  int count = 0;
  do digits[count++] = (char)('0' + id % 10);
  while ((id /= 10) > 0);
  while (count) *to++ = digits[--count];
  return to;
}

static char* write_string(char* to, const char* text) {
  *to++ = '"';
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') *to++ = '\\';
    *to++ = *text;
  }
  *to++ = '"';
  return to;
}

size_t write_json_list(char* to, const struct id_list* list, bool texts) {
  char* end = to;
  *end++ = '[';
  for (int64_t i = 0; i < list->count; i++) {
    if (i) *end++ = ',';
    end = texts ? write_string(end, list->codes[i]) : write_number(end, list->ids[i]);
  }
  *end++ = ']';
  return (size_t)(end - to);
}
