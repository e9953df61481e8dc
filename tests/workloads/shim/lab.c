#include "lab.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/engine/shim/shim.h"

void lost(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  exit(1);
}

/* Writes that reach the log for one transaction of about a thousand pages. */
int lab_counts(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/counts.db", folder);
  recorder_register(0);
  shim_register(NULL);
  sqlite3* db = NULL;
  if (sqlite3_open(path, &db) != SQLITE_OK) lost("cannot open");
  if (sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x)", NULL, NULL, NULL) !=
      SQLITE_OK)
    lost("%s", sqlite3_errmsg(db));
  int before = writes_made;
  const char sql[] =
      "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO t SELECT "
      "zeroblob(4000) FROM n";
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) lost("%s", sqlite3_errmsg(db));
  printf("%d\n", writes_made - before);
  sqlite3_close(db);
  return 0;
}

int main(int argc, char** argv) {
  const char *command = argc > 1 ? argv[1] : "", *folder = argc > 2 ? argv[2] : "",
             *third = argc > 3 ? argv[3] : "NORMAL";
  int number = argc > 4 ? atoi(argv[4]) : 0;
  if (strcmp(command, "born") == 0) return lab_born(folder);
  if (strcmp(command, "crash") == 0) return lab_crash(folder, third);
  if (strcmp(command, "full") == 0) return lab_full(folder, third);
  if (strcmp(command, "counts") == 0) return lab_counts(folder);
  if (strcmp(command, "killed") == 0) return lab_killed(folder, third, number);
  if (strcmp(command, "writers") == 0) return lab_writers(folder);
  if (strcmp(command, "write") == 0) return lab_write(folder, third, number);
  if (strcmp(command, "read") == 0) return lab_read(folder);
  fprintf(stderr, "lab: unknown command %s\n", command);
  return 2;
}
