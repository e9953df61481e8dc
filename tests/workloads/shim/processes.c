/* Several processes on one database, and writers that are killed. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab.h"
#include "workloads/engine/shim/shim.h"

int lab_write(const char* path, const char* synchronous, int transactions) {
  struct script script = {.random = (uint64_t)getpid()};
  shim_register(NULL);
  if (script_open(&script, path, NULL, synchronous) != SQLITE_OK) lost("writer: %s", sqlite3_errmsg(script.db));
  for (int i = 0; i != transactions; i++) {
    if (script_step(&script) != SQLITE_OK) lost("writer: %s", sqlite3_errmsg(script.db));
    printf("%lld\n", (long long)script.last);
    fflush(stdout);
  }
  return sqlite3_close(script.db) == SQLITE_OK ? 0 : 1;
}

int lab_read(const char* path) {
  sqlite3* db = NULL;
  /* Without the shim: another program. */
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix") != SQLITE_OK)
    lost("reader: cannot open");
  sqlite3_busy_timeout(db, 20000);
  for (;;) script_look(db);
}

/* `out` takes the child's standard output; -1: none is read. */
static pid_t start(char* const* argv, int out) {
  pid_t child = fork();
  if (child < 0) lost("fork: %s", strerror(errno));
  if (child > 0) return child;
  /* Whatever is found out, nothing stays behind. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (out >= 0) dup2(out, STDOUT_FILENO);
  execv("/proc/self/exe", argv);
  _exit(127);
}

static void end(pid_t child) {
  int status = 0;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  if (!WIFSIGNALED(status)) lost("a process ended by itself");
}

int lab_killed(const char* folder, const char* synchronous, int rounds) {
  char path[4096];
  snprintf(path, sizeof path, "%s/killed.db", folder);
  uint64_t random = 3;
  int64_t before = 0;
  for (int round = 0; round < rounds; round++) {
    int ends[2];
    /* Before the pipe is made: nobody but the writer may hold it open. */
    pid_t reader = start((char*[]){"lab", "read", path, NULL}, -1);
    if (pipe(ends) != 0) lost("pipe: %s", strerror(errno));
    pid_t writer = start((char*[]){"lab", "write", path, (char*)synchronous, "-1", NULL}, ends[1]);
    close(ends[1]);
    FILE* told = fdopen(ends[0], "r");
    int64_t acknowledged = before, line;
    uint64_t lines = 1 + draw(&random, 25);
    for (uint64_t i = 0; i < lines && fscanf(told, "%lld", (long long*)&line) == 1; i++) acknowledged = line;
    /* Somewhere inside the next transactions. */
    usleep((useconds_t)draw(&random, 4000));
    end(writer);
    end(reader);
    while (fscanf(told, "%lld", (long long*)&line) == 1) acknowledged = line;
    fclose(told);
    char where[40];
    snprintf(where, sizeof where, "round %d", round);
    int64_t last = script_check(path, where);
    if (last < acknowledged || last > acknowledged + 1)
      lost("%s: %lld was acknowledged, %lld is there", where, (long long)acknowledged, (long long)last);
    before = last;
  }
  printf("%d writers killed, %lld transactions\n", rounds, (long long)before);
  return 0;
}

int lab_writers(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/writers.db", folder);
  shim_register(NULL);
  struct script script = {.random = 1};
  if (script_open(&script, path, NULL, "NORMAL") != SQLITE_OK) lost("cannot begin: %s", sqlite3_errmsg(script.db));
  sqlite3_close(script.db);
  char* const argv[] = {"lab", "write", path, "NORMAL", "60", NULL};
  int ignored[2];
  if (pipe(ignored) != 0) lost("pipe: %s", strerror(errno));
  pid_t writers[2] = {start(argv, ignored[1]), start(argv, ignored[1])};
  pid_t reader = start((char*[]){"lab", "read", path, NULL}, -1);
  for (int i = 0; i < 2; i++) {
    int status = 0;
    waitpid(writers[i], &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) lost("writer %d failed", i);
  }
  end(reader);
  int64_t last = script_check(path, "two writers");
  printf("%lld transactions of two writers\n", (long long)last);
  return last > 80 ? 0 : 1;
}
