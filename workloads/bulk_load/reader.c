#include "reader.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "numbers.h"

struct latencies {
  int64_t count, p50, p99, max;
};

/* Between two reads: the reader shall hold snapshots, not a CPU. */
static const struct timespec pause_between = {.tv_nsec = 1000000};

/* Until the other end is closed, also by the end of the loading process. */
static bool stopped(int stop) {
  char byte;
  return read(stop, &byte, 1) == 0;
}

static void read_snapshots(const struct options* options, int stop, int answer) {
  struct numbers took = {0};
  struct random random = {.state = 29};
  sqlite3* db = open_for_reads();
  sqlite3_stmt* select = prepare_read(db);
  bool ready = false;
  while (!stopped(stop)) {
    run_sql(db, "BEGIN");
    int64_t rows = query_number(db, "SELECT coalesce(max(rowid), 0) FROM comment");
    if (!ready && write(answer, "r", 1) != 1) fail("the reader cannot say that it is ready");
    ready = true;
    for (int64_t end = now_ns() + options->hold_ms * 1000000; now_ns() < end && !stopped(stop);) {
      if (rows > 0) {
        int64_t row = random_between(&random, 1, rows), start = now_ns();
        read_comment(select, row);
        add_number(&took, now_ns() - start);
      }
      nanosleep(&pause_between, NULL);
    }
    run_sql(db, "COMMIT");
  }
  sqlite3_finalize(select);
  close_database(db);
  struct latencies found = {took.count, percentile(&took, 50), percentile(&took, 99), percentile(&took, 100)};
  if (write(answer, &found, sizeof found) != sizeof found) fail("the reader cannot say what it has read");
}

static void make_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) fail("no pipe to the reader");
}

struct reader start_reader(const struct options* options) {
  int stop[2], answer[2];
  make_pipe(stop);
  make_pipe(answer);
  fflush(stdout);
  pid_t process = fork();
  if (process < 0) fail("the reader cannot be started");
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing may outlive the load, however it ends */
    close(stop[1]);
    close(answer[0]);
    if (fcntl(stop[0], F_SETFL, O_NONBLOCK) != 0) fail("the pipe to the reader");
    read_snapshots(options, stop[0], answer[1]);
    _exit(0);
  }
  close(stop[0]);
  close(answer[1]);
  char ready;
  if (read(answer[0], &ready, 1) != 1) fail("the reader has failed before the load");
  return (struct reader){process, stop[1], answer[0]};
}

void finish_reader(struct reader* reader) {
  struct latencies found;
  int status = 0;
  close(reader->stop);
  bool whole = read(reader->answer, &found, sizeof found) == sizeof found;
  if (waitpid(reader->process, &status, 0) != reader->process || status != 0 || !whole) fail("the reader has failed");
  close(reader->answer);
  print_value("reader", "reads", "count", (double)found.count, 0, "none", NULL);
  print_value("reader", "p50", "us", (double)found.p50 / 1e3, 3, "lower", NULL);
  print_value("reader", "p99", "us", (double)found.p99 / 1e3, 3, "lower", NULL);
  print_value("reader", "max", "us", (double)found.max / 1e3, 3, "lower", NULL);
}
