/* c_sqlite: the request shape on SQLite's own C API, no wrapper. The baseline of every ratio. */
#include <stdlib.h>
#include <unistd.h>

#include "database.h"
#include "modes.h"

static const char* database_path;

/* Also when the program fails: its database is of no use to anybody. */
static void remove_database(void) {
  for (int i = 0; i < 3; i++) {
    char name[4096];
    snprintf(name, sizeof name, "%s%s", database_path, database_suffixes[i]);
    unlink(name);
  }
}

int main(int argc, char** argv) {
  struct options options = parse_options(argc, argv);
  database_path = options.path;
  atexit(remove_database);
  switch (options.action) {
    case RUN_SEQUENTIAL:
      run_sequential(&options);
      break;
    case RUN_CONCURRENT:
      run_concurrent(&options);
      break;
    case TRACE:
      print_trace(&options);
      break;
    case INFO:
      print_info();
      break;
    case HISTOGRAM:
      merge_histograms();
      break;
  }
  /* Output that did not arrive is a failure: a full disk must not look like a short result. */
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fputs(RUNNER ": standard output: it could not be written in full\n", stderr);
    return 1;
  }
  return 0;
}
