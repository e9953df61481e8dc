/* api_costs: what single uses of SQLite's API cost. */
#include <stdio.h>
#include <stdlib.h>

#include "api_costs.h"
#include "options.h"
#include "reduce.h"

const char program[] = "api_costs";

static const char* const mode_names[] = {"batch_insert", "random_read", "in_list",    "prepare_cost",
                                         "aggregate",    "reads",       "temp_store", NULL};
#define NAME(mode, name) #name,
static const char* const arm_names[] = {ARMS(NAME) NULL};
#undef NAME
#define MODE(mode, name) mode,
static const enum mode mode_of_arm[] = {ARMS(MODE)};
#undef MODE

static void (*const experiments[MODE_COUNT])(const struct options*) = {
    run_batch_insert, run_random_read, run_in_list, run_prepare_cost, run_aggregate, run_reads, run_temp_store};
/* How many items an experiment has unless it is told. */
static const int64_t default_items[MODE_COUNT] = {10000, 20000, 20000, 20000, 200000, 100000, 100000};

static const char help[] =
    "api_costs --mode MODE --arm ARM: one way of doing one thing; README.md lists modes, arms and cases\n"
    "mmap turns I/O errors into SIGBUS; synchronous=OFF risks a corrupt file; WAL with NORMAL may lose the last "
    "commits\n";

static void print_info(void) {
  print_program_info(COMPILER, BUILD_FLAGS, SQLITE_FLAGS);
}

/* An option that the mode does not look at would be a misunderstanding. */
static void refuse_foreign(const struct option_spec* spec, const struct options* options, unsigned modes) {
  if (spec->given && !(modes >> options->mode & 1u))
    usage("%s is not for --mode %s", spec->name, mode_names[options->mode]);
}

static struct options parse(int argc, char** argv) {
  static const char* const transaction_names[] = {"none", "held", NULL};
  static struct options options = {
      .autocommit_items = 10000, .megabytes = 45, .rows = 50000, .largest = 1000, .bytes = 64};
  int mode = 0, arm = 0, regime = 0, transaction = 0, measure = 0;
  struct option_spec specs[] = {
      {.name = "--mode", .help = "the experiment", .choice = &mode, .choices = mode_names},
      {.name = "--arm", .help = "one of its arms", .choice = &arm, .choices = arm_names},
      {.name = "--items",
       .help = "operations; the default is the mode's",
       .number = &options.items,
       .min = 1,
       .max = 100000000},
      {.name = "--regime",
       .help = "delete_full, wal_normal or memory (delete_full)",
       .choice = &regime,
       .choices = regime_names},
      {.name = "--measure",
       .help = "time, or counts of system calls (time)",
       .choice = &measure,
       .choices = measure_names},
      {.name = "--transaction", .help = "none or held (none)", .choice = &transaction, .choices = transaction_names},
      {.name = "--autocommit-items",
       .help = "rows of the arms that commit each, at most items (10000)",
       .number = &options.autocommit_items,
       .min = 1,
       .max = 10000000},
      {.name = "--megabytes",
       .help = "size of the database of random_read (45)",
       .number = &options.megabytes,
       .min = 1,
       .max = 4096},
      {.name = "--rows",
       .help = "of the table of in_list (50000)",
       .number = &options.rows,
       .min = 1000,
       .max = 10000000},
      {.name = "--largest",
       .help = "one more list length above 1000 (1000: none)",
       .number = &options.largest,
       .min = 1000,
       .max = 10000000},
      {.name = "--bytes",
       .help = "length of the texts and blobs of reads (64)",
       .number = &options.bytes,
       .min = 1,
       .max = 1000000},
      {0}};
  parse_options(argc, argv, specs, help, print_info);
  if (!specs[0].given) usage("--mode is missing");
  if (!specs[1].given) usage("--arm is missing");
  options.mode = (enum mode)mode;
  options.arm = (enum arm)arm;
  options.regime = (enum regime)regime;
  options.held = transaction == 1;
  options.measure = (enum measure)measure;
  if (mode_of_arm[arm] != options.mode) usage("--arm %s is not of --mode %s", arm_names[arm], mode_names[mode]);
  refuse_foreign(&specs[5], &options, 1u << RANDOM_READ | 1u << IN_LIST | 1u << PREPARE_COST);
  refuse_foreign(&specs[6], &options, 1u << BATCH_INSERT);
  refuse_foreign(&specs[7], &options, 1u << RANDOM_READ);
  refuse_foreign(&specs[8], &options, 1u << IN_LIST);
  refuse_foreign(&specs[9], &options, 1u << IN_LIST);
  refuse_foreign(&specs[10], &options, 1u << READS);
  if (!options.items) options.items = default_items[mode];
  if (options.autocommit_items > options.items) options.autocommit_items = options.items;
  if (options.largest > options.rows)
    usage("--largest %lld is above --rows %lld", (long long)options.largest, (long long)options.rows);
  return options;
}

int main(int argc, char** argv) {
  struct options options = parse(argc, argv);
  remove_database(DATABASE_FILE);
  check_reductions();
  print_header();
  experiments[options.mode](&options);
  finish_output();
  remove_database(DATABASE_FILE);
  return 0;
}
