/* json_encode: rows of a query as JSON, by two inner loops around the same encoder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "lanes.h"
#include "loops.h"
#include "options.h"
#include "rows.h"

const char program[] = "json_encode";

static const char* const arm_names[] = {"column", "value", NULL};
static const char* const mutex_names[] = {"nomutex", "fullmutex", NULL};
static void (*const loops[])(sqlite3_stmt*, struct json*) = {encode_by_column, encode_by_value};

static const char help[] =
    "json_encode --arm column|value: query results as JSON; what both loops give is compared byte for byte first\n"
    "json_encode --arm ARM --trace: the JSON of case edges\n";

struct options {
  int arm, mutex, trace;
  int only; /* one lane, or LANE_COUNT */
  int64_t items, columns, repeats;
};

static void print_info(void) {
  print_program_info(COMPILER, BUILD_FLAGS, SQLITE_FLAGS);
}

/* The options that stand alone are taken out, so that the rest are pairs. */
static struct options parse(int argc, char** argv) {
  static struct options options = {.only = LANE_COUNT, .items = 10000, .columns = 20, .repeats = 9};
  int left = 0;
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--trace") == 0)
      options.trace = 1;
    else
      argv[left++] = argv[i];
  }
  argv[left] = NULL;
  struct option_spec specs[] = {
      {.name = "--arm", .help = "column or value", .choice = &options.arm, .choices = arm_names},
      {.name = "--items", .help = "rows of a table (10000)", .number = &options.items, .min = 1, .max = 1000000},
      {.name = "--columns", .help = "of a table (20)", .number = &options.columns, .min = 1, .max = 100},
      {.name = "--repeats", .help = "of each case (9)", .number = &options.repeats, .min = 1, .max = 1000},
      {.name = "--mutex", .help = "nomutex or fullmutex (nomutex)", .choice = &options.mutex, .choices = mutex_names},
      {.name = "--only", .help = "one case instead of all", .choice = &options.only, .choices = lane_names},
      {0}};
  parse_options(left, argv, specs, help, print_info);
  if (!specs[0].given) usage("--arm is missing");
  return options;
}

static sqlite3* open_memory(int mutex) {
  sqlite3* db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | (mutex ? SQLITE_OPEN_FULLMUTEX : SQLITE_OPEN_NOMUTEX);
  must_be_ok(db, sqlite3_open_v2(":memory:", &db, flags, NULL), ":memory:");
  return db;
}

static void must_be_same(const char* name, const struct json* found, const struct json* expected) {
  size_t same = 0, shorter = found->size < expected->size ? found->size : expected->size;
  while (same < shorter && found->text[same] == expected->text[same]) same++;
  if (same < shorter || found->size != expected->size)
    fail("%s: the loops differ at byte %zu of %zu and %zu", name, same, found->size, expected->size);
}

/* A single row is encoded so often that its case takes as long as the others. */
static int64_t times_of(enum lane lane, int64_t items) {
  return lane == ONE_ROW ? items : 1;
}

static void run_lane(const struct options* options, enum lane lane) {
  char name[64];
  snprintf(name, sizeof name, "encode/%s", lane_names[lane]);
  const struct shape shape = shape_of(lane, options->items, options->columns);
  sqlite3* db = open_memory(options->mutex);
  fill_lane(db, lane, shape);
  sqlite3_stmt* select = prepare(db, "SELECT * FROM t");
  struct json expected = {0}, found = {0};
  loops[!options->arm](select, &expected);
  loops[options->arm](select, &found); /* warms up */
  must_be_same(name, &found, &expected);
  const uint64_t check = digest_bytes(DIGEST_START, expected.text, expected.size);
  print_value(name, "size", "bytes", (double)expected.size, 0, "none", &check);
  for (int64_t repeat = 0; lane != EDGES && repeat < options->repeats; repeat++) {
    const int64_t times = times_of(lane, options->items);
    struct work work = {0};
    start_work(&work);
    for (int64_t i = 0; i < times; i++) loops[options->arm](select, &found);
    stop_work(&work);
    must_be_same(name, &found, &expected);
    print_work(name, &work, times * shape.rows, MEASURE_TIME, check);
  }
  free(found.text);
  free(expected.text);
  sqlite3_finalize(select);
  close_database(db);
}

static void print_trace(const struct options* options) {
  sqlite3* db = open_memory(options->mutex);
  fill_lane(db, EDGES, (struct shape){0, 0});
  sqlite3_stmt* select = prepare(db, "SELECT * FROM t");
  struct json json = {0};
  loops[options->arm](select, &json);
  fwrite(json.text, 1, json.size, stdout);
  putchar('\n');
  free(json.text);
  sqlite3_finalize(select);
  close_database(db);
}

int main(int argc, char** argv) {
  struct options options = parse(argc, argv);
  if (options.trace) {
    print_trace(&options);
  } else {
    print_header();
    for (enum lane lane = INT_6; lane < LANE_COUNT; lane++)
      if (options.only == LANE_COUNT || options.only == (int)lane) run_lane(&options, lane);
  }
  finish_output();
  return 0;
}
