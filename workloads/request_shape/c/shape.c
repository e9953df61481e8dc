#include "shape.h"

#include <string.h>

#include "options.h"

const struct shape default_shape = {.rows = 1, .reads = 26, .writes = 1};

const char shape_help[] =
    "  --rows F               factor on the tables that grow, 1 to 1000 (1)\n"
    "  --extra-tables N       more tables, 0 to 1000 (0)\n"
    "  --extra-indexes N      more indexes on what the update writes, 0 to 64 (0)\n"
    "  --reads N              reads of an edit, 1 to 1000 (26)\n"
    "  --writes N             updates of an update request, 1 to 1000 (1)\n"
    "  --parent-lookup L      recursive, or application: org by org (recursive)\n"
    "  --statement-cache C    fits, default (the driver's own) or none (fits)\n";

static const char* const lookups[] = {"recursive", "application", NULL};
static const char* const caches[] = {"fits", "default", "none", NULL};

static const char* const flags[] = {"--rows",   "--extra-tables",  "--extra-indexes",  "--reads",
                                    "--writes", "--parent-lookup", "--statement-cache"};

static size_t index_of(const char* flag) {
  size_t i = 0;
  while (i < sizeof flags / sizeof *flags && strcmp(flag, flags[i]) != 0) i++;
  return i;
}

bool is_shape_flag(const char* flag) {
  return index_of(flag) < sizeof flags / sizeof *flags;
}

void parse_shape_flag(const char* flag, const char* value, struct shape* shape) {
  switch (index_of(flag)) {
    case 0:
      shape->rows = (int)parse_number(flag, value, 1, 1000);
      break;
    case 1:
      shape->extra_tables = (int)parse_number(flag, value, 0, 1000);
      break;
    case 2:
      shape->extra_indexes = (int)parse_number(flag, value, 0, 64);
      break;
    case 3:
      shape->reads = (int)parse_number(flag, value, 1, 1000);
      break;
    case 4:
      shape->writes = (int)parse_number(flag, value, 1, 1000);
      break;
    case 5:
      shape->parent_lookup = (enum parent_lookup)parse_choice(flag, value, lookups);
      break;
    case 6:
      shape->statement_cache = (enum statement_cache)parse_choice(flag, value, caches);
      break;
  }
}

void print_shape(const struct shape* shape, FILE* out) {
  if (memcmp(shape, &default_shape, sizeof *shape) == 0) return;
  fprintf(out,
          "shape\trows=%d extra_tables=%d extra_indexes=%d reads=%d writes=%d parent_lookup=%s statement_cache=%s\n",
          shape->rows, shape->extra_tables, shape->extra_indexes, shape->reads, shape->writes,
          lookups[shape->parent_lookup], caches[shape->statement_cache]);
}
