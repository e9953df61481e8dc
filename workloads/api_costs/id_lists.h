/* Lists of ids to ask for, made before the clock starts. */
#ifndef ID_LISTS_H
#define ID_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_BYTES = 32 };

/* The text id of a row; it has quotes and backslashes in it. At most CODE_BYTES with its end. */
void write_code(char* code, int64_t id);

struct id_list {
  const int64_t* ids;
  const char* const* codes;
  int64_t count;
};

/* `lists` times n ids, each list without repeats, one after another; and their codes. */
struct id_lists {
  int64_t* ids;
  char** codes;
  char* texts;
};
struct id_lists make_id_lists(int64_t rows, int64_t lists, int64_t n);
void free_id_lists(struct id_lists* lists);

/* The list as a JSON array of integers or of strings; gives its bytes. `to` has room for twice the codes and 3 an id.
 */
size_t write_json_list(char* to, const struct id_list* list, bool texts);

#endif
