#include "options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "database.h"

const char* const load_names[] = {"read", "write", "mixed", "single_writer", "open_read", NULL};
const char* const database_suffixes[] = {"", "-wal", "-shm"};

static _Noreturn void usage(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs(RUNNER ": ", stderr);
  vfprintf(stderr, format, arguments);
  fputs("; see --help\n", stderr);
  exit(2);
}

static const char help[] = RUNNER
    " --mode sequential [--items N]\n" RUNNER
    " --mode concurrent --workload read|write|mixed|single_writer|open_read [--workers W] [--duration S] [--warmup "
    "S]\n" RUNNER
    " --trace | --info | --histogram | --help\n"
    "  --items N              requests of each kind, one after another (10000)\n"
    "  --workers W            threads, each with its own connection (1)\n"
    "  --duration S           measured window in seconds (5)\n"
    "  --warmup S             seconds before it (1)\n"
    "  --rate R               requests due a second, of all workers (open_read, 1000)\n"
    "  --db PATH              database to make, removed at the end (a fresh file in the working directory)\n"
    "  --busy-timeout-ms N    instead of the 5000 of the pragmas\n"
    "  --statement-counts     how often each statement was prepared and ran, on standard error\n"
    "  --histogram            merge latencies from standard input: ns, one a line, an empty line between workers\n";

int64_t parse_number(const char* flag, const char* text, int64_t min, int64_t max) {
  int64_t value = 0;
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > 15 || text[digits]) usage("%s: '%s' is not a whole number", flag, text);
  for (const char* c = text; *c; c++) value = value * 10 + (*c - '0');
  if (value < min || value > max)
    usage("%s: %s is not within %lld and %lld", flag, text, (long long)min, (long long)max);
  return value;
}

int parse_choice(const char* flag, const char* text, const char* const* choices) {
  char known[128] = "";
  for (int i = 0; choices[i]; i++) {
    if (strcmp(text, choices[i]) == 0) return i;
    if (i) strcat(known, ", ");
    strcat(known, choices[i]);
  }
  usage("%s: '%s' is none of %s", flag, text, known);
}

/* Seconds with at most three decimals, as nanoseconds: 5, 0.25, and 5s as plans write it. */
static int64_t parse_seconds(const char* flag, const char* text, int64_t min_ms) {
  int64_t ms = 0, scale = 1000;
  size_t whole = strspn(text, "0123456789"), fraction = 0;
  if (whole && text[whole] == '.') fraction = strspn(text + whole + 1, "0123456789");
  size_t length = whole + (fraction ? fraction + 1 : 0);
  if (whole == 0 || whole > 5 || fraction > 3 || (text[length] && strcmp(text + length, "s") != 0))
    usage("%s: '%s' is not a number of seconds", flag, text);
  for (size_t i = 0; i < whole; i++) ms = ms * 10 + (text[i] - '0') * 1000;
  for (size_t i = 0; i < fraction; i++) ms += (text[whole + 1 + i] - '0') * (scale /= 10);
  if (ms < min_ms || ms > 3600000)
    usage("%s: %s is not within %s and 3600 seconds", flag, text, min_ms ? "0.001" : "0");
  return ms * 1000000;
}

/* What a killed program has left is not ours to overwrite, and no new database may begin beside an old one's log. */
static void refuse_existing(const char* path) {
  for (int i = 0; i < 3; i++) {
    char name[4096];
    int length = snprintf(name, sizeof name, "%s%s", path, database_suffixes[i]);
    if (length >= (int)sizeof name) usage("--db: the path is too long");
    if (access(name, F_OK) == 0) usage("--db: '%s' exists already", name);
  }
}

static const char* fresh_path(void) {
  static char path[96];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(path, sizeof path, RUNNER "-%ld-%lld%09ld.db", (long)getpid(), (long long)now.tv_sec, now.tv_nsec);
  return path;
}

static enum action parse_action(const char* mode) {
  if (strcmp(mode, "sequential") == 0) return RUN_SEQUENTIAL;
  if (strcmp(mode, "concurrent") == 0) return RUN_CONCURRENT;
  usage("--mode: '%s' is neither sequential nor concurrent", mode);
}

static enum action action_of(const char* flag) {
  return strcmp(flag, "--trace") == 0 ? TRACE : strcmp(flag, "--info") == 0 ? INFO : HISTOGRAM;
}

static bool is_action(const char* flag) {
  return strcmp(flag, "--trace") == 0 || strcmp(flag, "--info") == 0 || strcmp(flag, "--histogram") == 0;
}

struct options parse_options(int argc, char** argv) {
  struct options options = {.shape = default_shape,
                            .items = 10000,
                            .workers = 1,
                            .rate = 1000,
                            .duration_ns = 5000000000,
                            .warmup_ns = 1000000000,
                            .busy_timeout_ms = -1};
  const char *mode = NULL, *load = NULL, *action = NULL;
  for (int i = 1; i < argc; i++) {
    const char* flag = argv[i];
    if (strcmp(flag, "--help") == 0) {
      fputs(help, stdout);
      fputs(shape_help, stdout);
      exit(0);
    } else if (is_action(flag)) {
      if (action) usage("%s and %s exclude each other", action, flag);
      action = flag;
      options.action = action_of(flag);
      continue;
    } else if (strcmp(flag, "--statement-counts") == 0) {
      options.statement_counts = 1;
      continue;
    }
    static const char* const with_value[] = {"--mode",   "--items", "--workload",        "--workers", "--duration",
                                             "--warmup", "--db",    "--busy-timeout-ms", "--rate"};
    size_t known = 0, all = sizeof with_value / sizeof *with_value;
    while (known < all && strcmp(flag, with_value[known]) != 0) known++;
    if (known == all && !is_shape_flag(flag)) usage("unknown argument '%s'", flag);
    const char* value = argv[++i];
    if (!value || !*value) usage("%s needs a value", flag);
    if (known == all) parse_shape_flag(flag, value, &options.shape);
    switch (known) {
      case 0:
        mode = value;
        break;
      case 1:
        options.items = parse_number(flag, value, 1, 1000000000);
        break;
      case 2:
        options.load = (enum load)parse_choice(flag, load = value, load_names);
        break;
      case 3:
        options.workers = (int)parse_number(flag, value, 1, 4096);
        break;
      case 4:
        options.duration_ns = parse_seconds(flag, value, 1);
        break;
      case 5:
        options.warmup_ns = parse_seconds(flag, value, 0);
        break;
      case 6:
        options.path = value;
        break;
      case 7:
        options.busy_timeout_ms = (int)parse_number(flag, value, 0, 3600000);
        break;
      case 8:
        options.rate = parse_number(flag, value, 1, 10000000);
        break;
    }
  }
  if (action && mode) usage("%s and --mode exclude each other", action);
  if (!action && !mode) usage("--mode is missing");
  if (mode) options.action = parse_action(mode);
  if (options.action == RUN_CONCURRENT && !load) usage("--workload is missing");
  if (!options.path) options.path = fresh_path();
  refuse_existing(options.path);
  return options;
}
