/* A new database is born in WAL mode, without a PRAGMA.
 *
 * Running "PRAGMA journal_mode=WAL" on a connection as it opens would write the first page at once, and a page size, an
 * encoding or auto_vacuum that the program sets afterwards would come too late. Here the first transaction runs as
 * ever, in the rollback mode; only the two bytes of the file's first page that name the mode say WAL. From the next
 * transaction on every connection finds them there, the same as in any database that another process has put into WAL
 * mode. */
#ifndef WAL_BIRTH_H
#define WAL_BIRTH_H

#include "sqlite3.h"

struct wal_birth {
  int unborn;   /* the file was empty when it was opened, and nothing is committed yet */
  int declined; /* the program has chosen a journal mode itself */
  int marked;   /* page 1 was written, with WAL in it */
  int announce; /* born: the next look at the change counter must find a change */
};

/* After xOpen of a main database. */
int wal_birth_begin(struct wal_birth* birth, sqlite3_file* file);
/* xLock to RESERVED: somebody else may have made the database in the meantime. */
void wal_birth_reserved(struct wal_birth* birth, sqlite3_file* file);
/* SQLITE_FCNTL_PRAGMA: a mode that the program sets before the first write is kept. */
void wal_birth_pragma(struct wal_birth* birth, const char* name, const char* value);
/* xWrite: true when these bytes must leave with WAL in them; `copy` (65,536 bytes) then holds them. */
int wal_birth_mark(struct wal_birth* birth, const void* bytes, int count, sqlite3_int64 offset, unsigned char* copy);
void wal_birth_truncated(struct wal_birth* birth, sqlite3_int64 size);
/* xUnlock, to whatever level: the end of the transaction. */
void wal_birth_unlocked(struct wal_birth* birth);
/* After xRead. */
void wal_birth_read(struct wal_birth* birth, void* bytes, int count, sqlite3_int64 offset);

#endif
