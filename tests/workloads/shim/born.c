/* Databases that are born in WAL mode, and those that are not to be. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "workloads/engine/shim/shim.h"

static char path[4096];

static void fresh(void) {
  static const char* const all[] = {"", "-wal", "-shm", "-journal"};
  for (int i = 0; i < 4; i++) {
    char name[4200];
    snprintf(name, sizeof name, "%s%s", path, all[i]);
    unlink(name);
  }
}

static sqlite3* open_db(const char* vfs) {
  sqlite3* db = NULL;
  if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs) != SQLITE_OK)
    lost("cannot open %s", path);
  return db;
}

static void run(sqlite3* db, const char* sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) lost("%s: %s", sql, sqlite3_errmsg(db));
}

static void expect(sqlite3* db, const char* sql, const char* wanted) {
  sqlite3_stmt* statement = NULL;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW)
    lost("%s: %s", sql, sqlite3_errmsg(db));
  const char* found = (const char*)sqlite3_column_text(statement, 0);
  if (strcmp(found, wanted) != 0) lost("%s: %s, not %s", sql, found, wanted);
  sqlite3_finalize(statement);
}

/* The file as SQLite without the shim sees it. */
static void expect_on_disk(const char* mode) {
  sqlite3* db = open_db("unix");
  expect(db, "PRAGMA journal_mode", mode);
  expect(db, "PRAGMA integrity_check", "ok");
  expect(db, "SELECT count(*) FROM t", "2");
  sqlite3_close(db);
}

static void settings_survive(void) {
  static const char* const encodings[] = {"UTF-8", "UTF-16le", "UTF-16be"};
  for (int size = 512; size <= 65536; size *= 2)
    for (int vacuum = 0; vacuum < 3; vacuum++)
      for (int e = 0; e < 3; e++) {
        char sql[200], number[16];
        fresh();
        sqlite3* db = open_db(NULL);
        snprintf(sql, sizeof sql, "PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA encoding='%s'", size, vacuum,
                 encodings[e]);
        run(db, sql);
        run(db, "CREATE TABLE t(x)");
        run(db, "INSERT INTO t VALUES('first')");
        expect(db, "PRAGMA journal_mode", "wal");
        run(db, "INSERT INTO t VALUES('second')");
        snprintf(number, sizeof number, "%d", size);
        expect(db, "PRAGMA page_size", number);
        snprintf(number, sizeof number, "%d", vacuum);
        expect(db, "PRAGMA auto_vacuum", number);
        expect(db, "PRAGMA encoding", encodings[e]);
        char wal[4200];
        snprintf(wal, sizeof wal, "%s-wal", path);
        if (access(wal, F_OK) != 0) lost("page_size %d: no log beside the database", size);
        sqlite3_close(db);
        expect_on_disk("wal");
      }
}

static void modes_that_are_chosen_are_kept(void) {
  static const char* const modes[] = {"delete", "truncate", "persist", "memory", "off"};
  for (int i = 0; i < 5; i++) {
    char sql[80];
    fresh();
    sqlite3* db = open_db(NULL);
    snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", modes[i]);
    run(db, sql);
    run(db, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    run(db, "INSERT INTO t VALUES(2)");
    expect(db, "PRAGMA journal_mode", modes[i]);
    sqlite3_close(db);
    expect_on_disk("delete");
  }
  fresh();
  sqlite3* db = open_db(NULL);
  run(db, "CREATE TABLE t(x); INSERT INTO t VALUES(1); PRAGMA journal_mode=DELETE; INSERT INTO t VALUES(2)");
  expect(db, "PRAGMA journal_mode", "delete");
  sqlite3_close(db);
  expect_on_disk("delete");
}

static void the_first_transaction_may_fail(void) {
  fresh();
  sqlite3* db = open_db(NULL);
  run(db, "PRAGMA cache_size=1; BEGIN; CREATE TABLE t(x); INSERT INTO t VALUES(zeroblob(900000)); ROLLBACK");
  expect(db, "SELECT count(*) FROM sqlite_schema", "0");
  run(db, "PRAGMA journal_mode=TRUNCATE; CREATE TABLE t(x); INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)");
  sqlite3_close(db);
  expect_on_disk("delete");
}

static void others_see_the_same(void) {
  fresh();
  sqlite3 *first = open_db(NULL), *second = open_db(NULL), *plain = open_db("unix");
  expect(second, "SELECT count(*) FROM sqlite_schema", "0");
  expect(plain, "SELECT count(*) FROM sqlite_schema", "0");
  run(first, "CREATE TABLE t(x)");
  run(second, "INSERT INTO t VALUES(1)");
  run(plain, "INSERT INTO t VALUES(2)");
  expect(first, "SELECT count(*) FROM t", "2");
  expect(first, "PRAGMA journal_mode", "wal");
  expect(second, "PRAGMA journal_mode", "wal");
  expect(plain, "PRAGMA journal_mode", "wal");
  sqlite3_close(first);
  sqlite3_close(second);
  sqlite3_close(plain);
  expect_on_disk("wal");
}

static void what_exists_stays(void) {
  fresh();
  sqlite3 *shim = open_db(NULL), *plain = open_db("unix");
  run(plain, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
  run(shim, "INSERT INTO t VALUES(2)");
  sqlite3_close(plain);
  sqlite3_close(shim);
  expect_on_disk("delete");
  shim = open_db(NULL);
  run(shim, "UPDATE t SET x = x + 1");
  expect(shim, "PRAGMA journal_mode", "delete");
  sqlite3_close(shim);
  expect_on_disk("delete");
}

static void attached_files_too(void) {
  char attach[4300];
  fresh();
  snprintf(attach, sizeof attach, "ATTACH '%s' AS other", path);
  sqlite3* db = NULL;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) lost("no memory database");
  run(db, attach);
  run(db, "CREATE TABLE other.t(x); INSERT INTO other.t VALUES(1); INSERT INTO other.t VALUES(2)");
  expect(db, "PRAGMA other.journal_mode", "wal");
  sqlite3_close(db);
  expect_on_disk("wal");
}

static void exclusive_use(void) {
  fresh();
  sqlite3* db = open_db(NULL);
  run(db, "PRAGMA locking_mode=EXCLUSIVE; CREATE TABLE t(x); INSERT INTO t VALUES(1); INSERT INTO t VALUES(2)");
  expect(db, "PRAGMA integrity_check", "ok");
  sqlite3_close(db);
  expect_on_disk("wal");
}

int lab_born(const char* folder) {
  snprintf(path, sizeof path, "%s/born.db", folder);
  shim_register(NULL);
  settings_survive();
  modes_that_are_chosen_are_kept();
  the_first_transaction_may_fail();
  others_see_the_same();
  what_exists_stays();
  attached_files_too();
  exclusive_use();
  return 0;
}
