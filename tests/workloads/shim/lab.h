/* Experiments on the file shim of the engine variants. Each command returns 0 when everything held, 1 when something
 * was lost, and says what on standard error. */
#ifndef LAB_H
#define LAB_H

#include <stdint.h>
#include <stdio.h>

#include "sqlite3.h"

/* Says it and ends the program with exit code 1. */
_Noreturn void lost(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* The next number of a fixed sequence (splitmix64), from 0 to `below` - 1. */
uint64_t draw(uint64_t* state, uint64_t below);

/* script.c: transactions whose result can be checked from outside. */
struct script {
  sqlite3* db;
  uint64_t random;
  int64_t last; /* number of the last transaction that was committed */
};
/* With a tiny cache, so that transactions spill into the log before they commit. `vfs` NULL: the default. */
int script_open(struct script* script, const char* path, const char* vfs, const char* synchronous);
/* One transaction: inserts, updates, now and then a savepoint or a rollback. Result code of the first failure, rolled
 * back. */
int script_step(struct script* script);
/* Fails the program unless the database is sound; returns the number of the last transaction in it, 0 when it is empty.
 */
int64_t script_check(const char* path, const char* where);
/* For a reader beside writers: that the database is consistent within one read transaction. */
void script_look(sqlite3* db);

/* recorder.c: a VFS over "unix" that writes down what reaches the files, and can fail. */
enum { MAX_FILES = 3 };
struct event {
  enum { EVENT_WRITE, EVENT_TRUNCATE, EVENT_SYNC, EVENT_DELETE, EVENT_ACK } kind;
  int file;             /* index by suffix: database, "-wal", "-journal" */
  sqlite3_int64 offset; /* size, for a truncation; number of the transaction, for an acknowledgement */
  int count;
  unsigned char* bytes;
};
extern struct event* events;
extern int event_count;
extern const char* const suffixes[MAX_FILES];
extern int writes_until_full; /* this many more writes succeed, then every one fails, or only one; -1: no limit */
extern int full_once, writes_refused;
extern int writes_made;
void recorder_register(int keep_events);
void recorder_acknowledge(int64_t transaction);
void recorder_clear(void);

int lab_born(const char* folder);
int lab_crash(const char* folder, const char* synchronous);
int lab_full(const char* folder, const char* synchronous);
int lab_counts(const char* folder);
int lab_killed(const char* folder, const char* synchronous, int rounds);
int lab_writers(const char* folder);
int lab_write(const char* path, const char* synchronous, int transactions);
int lab_read(const char* path);

#endif
