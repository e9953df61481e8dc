/* bulk_load: what the automatic checkpoint costs a load in WAL mode. */
#include "bench.h"
#include "bulk_load.h"
#include "checkpoints.h"
#include "disk.h"
#include "load.h"
#include "options.h"

const char program[] = "bulk_load";

static const char* const mode_names[] = {"load", "load_with_reader", "load_then_read", NULL};
static const char* const synchronous_names[] = {"normal", "full", NULL};
static const char* const log_names[] = {"none", "sql", NULL};

static const char help[] =
    "bulk_load --mode load|load_with_reader|load_then_read: comments in transactions, the last checkpoint on the "
    "clock\n"
    "synchronous=NORMAL in WAL mode may lose the last commits when power fails; the file stays sound\n";

static void print_info(void) {
  print_program_info(COMPILER, BUILD_FLAGS, SQLITE_FLAGS);
}

static struct options parse(int argc, char** argv) {
  static struct options options = {.items = 100000,
                                   .batch = 1000,
                                   .curve_step = 100000,
                                   .probe_ms = 250,
                                   .hold_ms = 100,
                                   .reads = 10000,
                                   .autocheckpoint = -1};
  int mode = 0, full = 0, log = 0, measure = 0;
  struct option_spec specs[] = {
      {.name = "--mode", .help = "what runs beside or after the load", .choice = &mode, .choices = mode_names},
      {.name = "--autocheckpoint",
       .help = "pages, 0: only at the end (no pragma)",
       .number = &options.autocheckpoint,
       .max = 2147483647},
      {.name = "--truncate-every",
       .help = "batches between wal_checkpoint(TRUNCATE) (never)",
       .number = &options.truncate_every,
       .min = 1,
       .max = 1000000000},
      {.name = "--items", .help = "rows (100000)", .number = &options.items, .min = 1, .max = 100000000},
      {.name = "--batch", .help = "rows of a transaction (1000)", .number = &options.batch, .min = 1, .max = 10000000},
      {.name = "--synchronous", .help = "normal or full (normal)", .choice = &full, .choices = synchronous_names},
      {.name = "--curve-step",
       .help = "rows between points of the curve (100000)",
       .number = &options.curve_step,
       .min = 1,
       .max = 100000000},
      {.name = "--probe-ms",
       .help = "of each probe of the disk, 0: none (250)",
       .number = &options.probe_ms,
       .max = 60000},
      {.name = "--hold-ms",
       .help = "that the reader keeps a snapshot (100)",
       .number = &options.hold_ms,
       .min = 1,
       .max = 3600000},
      {.name = "--reads", .help = "after the load (10000)", .number = &options.reads, .min = 1, .max = 100000000},
      {.name = "--measure",
       .help = "time, or counts of system calls (time)",
       .choice = &measure,
       .choices = measure_names},
      {.name = "--log",
       .help = "none, or sql: the load's statements on standard error (none)",
       .choice = &log,
       .choices = log_names},
      {0}};
  parse_options(argc, argv, specs, help, print_info);
  if (!specs[0].given) usage("--mode is missing");
  options.mode = (enum mode)mode;
  options.full = full == 1;
  options.log_sql = log == 1;
  options.measure = (enum measure)measure;
  if (specs[8].given && options.mode != LOAD_WITH_READER) usage("--hold-ms is for --mode load_with_reader");
  if (specs[9].given && options.mode != LOAD_THEN_READ) usage("--reads is for --mode load_then_read");
  return options;
}

int main(int argc, char** argv) {
  struct options options = parse(argc, argv);
  remove_database(DATABASE_FILE);
  register_watching_vfs();
  print_header();
  if (options.probe_ms > 0 && options.measure == MEASURE_TIME) probe_disk(options.probe_ms);
  run_load(&options);
  finish_output();
  remove_database(DATABASE_FILE);
  return 0;
}
