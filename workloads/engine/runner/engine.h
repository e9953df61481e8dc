/* engine: runs one benchmark in the build of SQLite that its bundle holds, checks what came out of it, and prints the
 * rows. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdint.h>

/* workloads/CONTRACT.md; a wrong answer has a code of its own. */
enum { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_GATE = 6, EXIT_UNSUPPORTED = 75 };

/* One line on standard error, and the end. */
_Noreturn void fail(int code, const char* format, ...) __attribute__((format(printf, 2, 3)));

struct options {
  const char* benchmark; /* speedtest1 | kvtest | tatp | ssb */
  const char* size;      /* a name in sizes.toml */
  int64_t seed;
  int deployment; /* each variant's own durability, not FULL for all */
  int counts;     /* system calls in place of time */
  int info;
  int training; /* everything once, without rows: what a profile is made from */
};

struct options parse_options(int argc, char** argv);

/* The folder of the bundle, absolute, and the one below it with the programs for this CPU. */
const char* bundle_folder(void);
const char* program_folder(void);

void run_benchmark(const struct options* options);
void print_info(void);

#endif
