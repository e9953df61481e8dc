#include "wal_birth.h"

#include <string.h>

/* The database header (sqlite.org/fileformat2.html, 1.3): the write and the read version, 2 for WAL; the change
 * counter. */
enum {
  HEADER = 100,
  WRITE_VERSION = 18,
  READ_VERSION = 19,
  VERSION_WAL = 2,
  CHANGE_COUNTER = 24,
  CHANGE_COUNTER_READ = 16
};

int wal_birth_begin(struct wal_birth* birth, sqlite3_file* file) {
  sqlite3_int64 size = 0;
  memset(birth, 0, sizeof *birth);
  /* Without shared memory there is no WAL mode. */
  if (file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return SQLITE_OK;
  int rc = file->pMethods->xFileSize(file, &size);
  birth->unborn = rc == SQLITE_OK && size == 0;
  return rc;
}

void wal_birth_reserved(struct wal_birth* birth, sqlite3_file* file) {
  sqlite3_int64 size = 0;
  if (!birth->unborn || birth->marked) return;
  if (file->pMethods->xFileSize(file, &size) != SQLITE_OK || size > 0) birth->unborn = 0;
}

void wal_birth_pragma(struct wal_birth* birth, const char* name, const char* value) {
  if (value && sqlite3_stricmp(name, "journal_mode") == 0) birth->declined = sqlite3_stricmp(value, "wal") != 0;
}

int wal_birth_mark(struct wal_birth* birth, const void* bytes, int count, sqlite3_int64 offset, unsigned char* copy) {
  if (!birth->unborn || birth->declined || offset != 0 || count < HEADER) return 0;
  memcpy(copy, bytes, (size_t)count);
  copy[WRITE_VERSION] = copy[READ_VERSION] = VERSION_WAL;
  birth->marked = 1;
  return 1;
}

void wal_birth_truncated(struct wal_birth* birth, sqlite3_int64 size) {
  /* The first transaction was rolled back. */
  if (size == 0) birth->marked = 0;
}

void wal_birth_unlocked(struct wal_birth* birth) {
  if (!birth->unborn || !birth->marked) return;
  birth->unborn = 0;
  birth->announce = 1;
}

void wal_birth_read(struct wal_birth* birth, void* bytes, int count, sqlite3_int64 offset) {
  /* The pager compares the change counter with the one it knows before it trusts its cache, in which page 1 still names
   * the rollback mode. One changed bit in what it is shown, not in the file, makes it read the page again. */
  if (!birth->announce || offset != CHANGE_COUNTER || count != CHANGE_COUNTER_READ) return;
  ((unsigned char*)bytes)[0] ^= 0x80;
  birth->announce = 0;
}
