/* A disk that is full at the n-th write, for every n: an error is told, what was acknowledged stays, and after it has
 * room again the same connection goes on. */
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "workloads/engine/shim/shim.h"

static void remove_database(const char* path) {
  static const char* const all[] = {"", "-wal", "-shm", "-journal"};
  for (int i = 0; i < 4; i++) {
    char name[8192];
    snprintf(name, sizeof name, "%s%s", path, all[i]);
    unlink(name);
  }
}

/* What a power cut would leave now, when all that was written has arrived. */
static void copy_without_index(const char* path, const char* copy) {
  remove_database(copy);
  for (int file = 0; file < MAX_FILES; file++) {
    char from[8192], to[8192], buffer[65536];
    snprintf(from, sizeof from, "%s%s", path, suffixes[file]);
    snprintf(to, sizeof to, "%s%s", copy, suffixes[file]);
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    for (size_t count; out && (count = fread(buffer, 1, sizeof buffer, in)) > 0;)
      if (fwrite(buffer, 1, count, out) != count) lost("cannot write %s", to);
    if (in) fclose(in);
    if (out && fclose(out) != 0) lost("cannot write %s", to);
  }
}

/* True when the disk was full on the way. Adds to `told` when a transaction failed by it: SQLite keeps quiet about a
 * checkpoint that fails after a commit. */
static int full_at(const char* path, const char* synchronous, int writes, int* told) {
  char where[80];
  snprintf(where, sizeof where, "full after %d writes", writes);
  remove_database(path);
  struct script script = {.random = 5};
  writes_until_full = -1;
  if (script_open(&script, path, NULL, synchronous) != SQLITE_OK) lost("%s: %s", where, sqlite3_errmsg(script.db));
  writes_until_full = writes;
  writes_refused = 0;
  int64_t acknowledged = script.last;
  int failures = 0;
  for (int i = 0; i < 6; i++) {
    int rc = script_step(&script);
    if (rc == SQLITE_OK)
      acknowledged = script.last;
    else if (writes_refused == 0)
      lost("%s: transaction %d failed before: %s", where, i, sqlite3_errmsg(script.db));
    else
      failures++;
  }
  int was_full = writes_refused > 0;
  writes_until_full = -1;
  /* While the connection lives, and the index of the log in shared memory with it. */
  int64_t last = script_check(path, where);
  if (last != acknowledged)
    lost("%s: %lld was acknowledged, others see %lld", where, (long long)acknowledged, (long long)last);
  char copy[4200];
  snprintf(copy, sizeof copy, "%s.copy", path);
  copy_without_index(path, copy);
  last = script_check(copy, where);
  if (last != acknowledged)
    lost("%s: %lld was acknowledged, %lld survives", where, (long long)acknowledged, (long long)last);
  if (script_step(&script) != SQLITE_OK) lost("%s: with room again: %s", where, sqlite3_errmsg(script.db));
  acknowledged = script.last;
  sqlite3_close(script.db);
  last = script_check(path, where);
  if (last != acknowledged)
    lost("%s: %lld was acknowledged, %lld is there", where, (long long)acknowledged, (long long)last);
  *told += failures > 0;
  return was_full;
}

int lab_full(const char* folder, const char* synchronous) {
  char path[4096];
  snprintf(path, sizeof path, "%s/full.db", folder);
  recorder_register(0);
  shim_register(NULL);
  int points = 0, told = 0;
  for (full_once = 0; full_once < 2; full_once++)
    for (int writes = 1; full_at(path, synchronous, writes, &told); writes++) points++;
  printf("full from or at each of %d writes, %d times a transaction failed by it\n", points, told);
  return told > 100 ? 0 : 1;
}
