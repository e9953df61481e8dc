#include <stdlib.h>
#include <string.h>

#include "lab.h"

static int run(sqlite3* db, const char* sql) {
  return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int64_t ask(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = NULL;
  int64_t value = -1;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
    value = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return value;
}

uint64_t draw(uint64_t* state, uint64_t below) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % below;
}

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, x TEXT, h BLOB); CREATE INDEX IF NOT EXISTS tx ON t(x);"
    "CREATE TABLE IF NOT EXISTS meta(k INTEGER PRIMARY KEY, last INT, rows INT); INSERT OR IGNORE INTO meta VALUES(1, "
    "0, 0);";

int script_open(struct script* script, const char* path, const char* vfs, const char* synchronous) {
  char pragmas[256];
  sqlite3_snprintf(sizeof pragmas, pragmas,
                   "PRAGMA page_size=1024; PRAGMA synchronous=%s; PRAGMA cache_size=8; PRAGMA cache_spill=1;"
                   "PRAGMA wal_autocheckpoint=60; PRAGMA mmap_size=0;",
                   synchronous);
  int rc = sqlite3_open_v2(path, &script->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
  if (rc == SQLITE_OK) rc = sqlite3_busy_timeout(script->db, 20000);
  if (rc == SQLITE_OK) rc = run(script->db, pragmas);
  if (rc == SQLITE_OK) rc = run(script->db, schema);
  script->last = rc == SQLITE_OK ? ask(script->db, "SELECT last FROM meta") : 0;
  return rc;
}

static int insert_rows(struct script* script, int rows) {
  for (int i = 0; i < rows; i++) {
    char sql[160];
    uint64_t x = draw(&script->random, 1000000007), length = draw(&script->random, 2500);
    sqlite3_snprintf(sizeof sql, sql, "INSERT INTO t(x, h) VALUES('%llx', zeroblob(%d))", (unsigned long long)x,
                     (int)length);
    int rc = run(script->db, sql);
    if (rc != SQLITE_OK) return rc;
  }
  return SQLITE_OK;
}

static int work(struct script* script, int rows) {
  int rc = insert_rows(script, rows);
  if (rc == SQLITE_OK && draw(&script->random, 4) == 0) {
    rc = run(script->db, "SAVEPOINT a");
    if (rc == SQLITE_OK) rc = insert_rows(script, 30);
    if (rc == SQLITE_OK) rc = run(script->db, "ROLLBACK TO a; RELEASE a");
  }
  /* Reaches the files in the middle of a transaction, by a call whose failure nobody looks at. */
  if (rc == SQLITE_OK && draw(&script->random, 2) == 0) rc = run(script->db, "PRAGMA cache_size=8");
  /* Pages that were spilled are written again: the log rewrites its frames. */
  if (rc == SQLITE_OK && draw(&script->random, 3) == 0)
    rc = run(script->db, "UPDATE t SET x = x || 'a' WHERE id % 5 = 0");
  if (rc == SQLITE_OK && draw(&script->random, 5) == 0)
    rc = ask(script->db, "SELECT count(h) FROM t") < 0 ? SQLITE_IOERR : SQLITE_OK;
  return rc;
}

int script_step(struct script* script) {
  char sql[160];
  int rows = 1 + (int)draw(&script->random, 25);
  int give_up = draw(&script->random, 7) == 0;
  int rc = run(script->db, "BEGIN IMMEDIATE");
  if (rc != SQLITE_OK) return rc;
  int64_t last = ask(script->db, "SELECT last FROM meta");
  rc = last < 0 ? SQLITE_IOERR : work(script, rows);
  sqlite3_snprintf(sizeof sql, sql, "UPDATE meta SET last = last + 1, rows = rows + %d", rows);
  if (rc == SQLITE_OK) rc = run(script->db, sql);
  if (rc == SQLITE_OK) rc = run(script->db, give_up ? "ROLLBACK" : "COMMIT");
  if (rc != SQLITE_OK) {
    if (!sqlite3_get_autocommit(script->db)) run(script->db, "ROLLBACK");
    return rc;
  }
  if (!give_up) script->last = last + 1;
  return SQLITE_OK;
}

int64_t script_check(const char* path, const char* where) {
  sqlite3* db = NULL;
  sqlite3_stmt* statement = NULL;
  /* SQLite's own VFS: what another program would see. */
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "unix") != SQLITE_OK)
    lost("%s: cannot open", where);
  sqlite3_busy_timeout(db, 20000);
  if (sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) != SQLITE_OK ||
      sqlite3_step(statement) != SQLITE_ROW)
    lost("%s: %s", where, sqlite3_errmsg(db));
  if (strcmp((const char*)sqlite3_column_text(statement, 0), "ok") != 0)
    lost("%s: integrity_check: %s", where, sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  int64_t last = 0;
  if (ask(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'") == 1 &&
      ask(db, "SELECT count(*) FROM meta") == 1) {
    last = ask(db, "SELECT last FROM meta");
    if (ask(db, "SELECT rows = (SELECT count(*) FROM t) AND rows = (SELECT count(x) FROM t INDEXED BY tx) FROM meta") !=
        1)
      lost("%s: transaction %lld is there in part", where, (long long)last);
  }
  sqlite3_close(db);
  return last;
}

void script_look(sqlite3* db) {
  if (run(db, "BEGIN") != SQLITE_OK) lost("reader: %s", sqlite3_errmsg(db));
  if (ask(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'") == 1 &&
      ask(db, "SELECT count(*) FROM meta") == 1 &&
      ask(db, "SELECT rows = (SELECT count(*) FROM t) AND rows = (SELECT count(x) FROM t INDEXED BY tx) FROM meta") !=
          1)
    lost("reader: a transaction is seen in part: %s", sqlite3_errmsg(db));
  if (run(db, "COMMIT") != SQLITE_OK) lost("reader: %s", sqlite3_errmsg(db));
}
