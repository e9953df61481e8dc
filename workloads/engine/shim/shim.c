/* SHIM_WAL_BUFFER and SHIM_WAL_BIRTH (1 unless set to 0) choose what is done, so that each can be measured alone. */
#include "shim.h"

#include <string.h>

#include "sqlite3.h"
#include "wal_birth.h"
#include "wal_buffer.h"

#ifndef SHIM_WAL_BUFFER
#define SHIM_WAL_BUFFER 1
#endif
#ifndef SHIM_WAL_BIRTH
#define SHIM_WAL_BIRTH 1
#endif

/* The lock of the log's only writer, by sqlite.org/walformat.html, 2.3. */
enum { WRITER_LOCK = 0 };

/* One open main database or log. The real file of the VFS below follows it in memory. */
struct shim_file {
  sqlite3_file base;
  sqlite3_file* real;
  struct shim_file* peer; /* the log of this database, the database of this log */
  int is_wal;
  int gathers;              /* a log whose writes wait in the buffer */
  struct wal_buffer buffer; /* of a log */
  struct wal_birth birth;   /* of a database */
};

static struct shim_file* shim_of(sqlite3_file* file) {
  return (struct shim_file*)file;
}
static sqlite3_file* real_of(sqlite3_file* file) {
  return shim_of(file)->real;
}

/* The log that belongs to `file`, be it the log or the database; NULL when none is open. */
static struct shim_file* wal_of(sqlite3_file* file) {
  struct shim_file* shim = shim_of(file);
  return shim->is_wal ? shim : shim->peer;
}

static int flush(sqlite3_file* file) {
  struct shim_file* wal = wal_of(file);
  return wal ? wal_buffer_flush(&wal->buffer, wal->real) : SQLITE_OK;
}

static int shim_close(sqlite3_file* file) {
  struct shim_file* shim = shim_of(file);
  int flushed = flush(file);
  if (shim->peer) shim->peer->peer = NULL;
  shim->peer = NULL;
  wal_buffer_free(&shim->buffer);
  int rc = shim->real->pMethods->xClose(shim->real);
  return flushed != SQLITE_OK ? flushed : rc;
}

static int shim_read(sqlite3_file* file, void* bytes, int count, sqlite3_int64 offset) {
  struct shim_file* shim = shim_of(file);
  if (shim->is_wal) return wal_buffer_read(&shim->buffer, shim->real, bytes, count, offset);
  int rc = shim->real->pMethods->xRead(shim->real, bytes, count, offset);
  if (rc == SQLITE_OK) wal_birth_read(&shim->birth, bytes, count, offset);
  return rc;
}

static int shim_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  struct shim_file* shim = shim_of(file);
  if (shim->gathers) return wal_buffer_write(&shim->buffer, shim->real, bytes, count, offset);
  unsigned char marked[65536];
  if (wal_birth_mark(&shim->birth, bytes, count, offset, marked)) bytes = marked;
  return shim->real->pMethods->xWrite(shim->real, bytes, count, offset);
}

static int shim_truncate(sqlite3_file* file, sqlite3_int64 size) {
  int rc = flush(file);
  if (rc != SQLITE_OK) return rc;
  rc = real_of(file)->pMethods->xTruncate(real_of(file), size);
  if (rc == SQLITE_OK) wal_birth_truncated(&shim_of(file)->birth, size);
  return rc;
}

static int shim_sync(sqlite3_file* file, int flags) {
  struct shim_file* shim = shim_of(file);
  if (shim->is_wal) return wal_buffer_sync(&shim->buffer, shim->real, flags);
  return shim->real->pMethods->xSync(shim->real, flags);
}

static int shim_file_size(sqlite3_file* file, sqlite3_int64* size) {
  int rc = flush(file);
  return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int shim_lock(sqlite3_file* file, int level) {
  int rc = real_of(file)->pMethods->xLock(real_of(file), level);
  if (rc == SQLITE_OK && level == SQLITE_LOCK_RESERVED) wal_birth_reserved(&shim_of(file)->birth, real_of(file));
  return rc;
}

static int shim_unlock(sqlite3_file* file, int level) {
  int rc = real_of(file)->pMethods->xUnlock(real_of(file), level);
  if (rc == SQLITE_OK) wal_birth_unlocked(&shim_of(file)->birth);
  return rc;
}

static int shim_check_reserved_lock(sqlite3_file* file, int* reserved) {
  return real_of(file)->pMethods->xCheckReservedLock(real_of(file), reserved);
}

static int shim_file_control(sqlite3_file* file, int operation, void* argument) {
  flush(file);
  if (operation == SQLITE_FCNTL_PRAGMA) {
    char** words = argument; /* [1] is the name, [2] the value or NULL */
    wal_birth_pragma(&shim_of(file)->birth, words[1], words[2]);
  }
  return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int shim_sector_size(sqlite3_file* file) {
  return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int shim_device_characteristics(sqlite3_file* file) {
  return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shim_shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return real_of(file)->pMethods->xShmMap(real_of(file), region, size, extend, memory);
}

static int shim_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  /* Before a lock changes hands, everything must be where others look for it. A failure is kept for the transaction's
   * next write: giving a lock back must not fail. */
  flush(file);
  int rc = real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
  struct shim_file* wal = wal_of(file);
  if (wal && offset == WRITER_LOCK && flags == (SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)) wal_buffer_end(&wal->buffer);
  return rc;
}

static void shim_shm_barrier(sqlite3_file* file) {
  flush(file);
  real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shim_shm_unmap(sqlite3_file* file, int remove) {
  flush(file);
  return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static int shim_fetch(sqlite3_file* file, sqlite3_int64 offset, int count, void** memory) {
  return real_of(file)->pMethods->xFetch(real_of(file), offset, count, memory);
}

static int shim_unfetch(sqlite3_file* file, sqlite3_int64 offset, void* memory) {
  return real_of(file)->pMethods->xUnfetch(real_of(file), offset, memory);
}

/* One for each version of the interface that a file below may have: a method that it lacks must be seen to be lacking.
 */
#define METHODS(version)                                                                                          \
  {                                                                                                               \
    version, shim_close, shim_read, shim_write, shim_truncate, shim_sync, shim_file_size, shim_lock, shim_unlock, \
        shim_check_reserved_lock, shim_file_control, shim_sector_size, shim_device_characteristics, shim_shm_map, \
        shim_shm_lock, shim_shm_barrier, shim_shm_unmap, shim_fetch, shim_unfetch                                 \
  }
static const sqlite3_io_methods methods[] = {METHODS(1), METHODS(2), METHODS(3)};

static int is_ours(const sqlite3_file* file) {
  return file->pMethods >= methods && file->pMethods < methods + sizeof methods / sizeof *methods;
}

static sqlite3_vfs* below;

static int shim_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  (void)vfs;
  if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) return below->xOpen(below, name, file, flags, flags_out);
  struct shim_file* shim = shim_of(file);
  memset(shim, 0, sizeof *shim);
  shim->real = (sqlite3_file*)(shim + 1);
  shim->real->pMethods = NULL;
  int rc = below->xOpen(below, name, shim->real, flags, flags_out);
  if (!shim->real->pMethods) return rc;
  int version = shim->real->pMethods->iVersion;
  shim->base.pMethods = &methods[version < 1 ? 0 : version > 3 ? 2 : version - 1];
  if (rc != SQLITE_OK) return rc;
  if (flags & SQLITE_OPEN_WAL) {
    shim->is_wal = 1;
    sqlite3_file* database = sqlite3_database_file_object(name);
    /* Otherwise a VFS above ours has the database: locks change hands and barriers pass there, and nothing here would
     * hear of it, so nothing may wait here either. */
    if (database && is_ours(database)) {
      shim->gathers = SHIM_WAL_BUFFER;
      shim->peer = shim_of(database);
      shim->peer->peer = shim;
    }
  } else if (SHIM_WAL_BIRTH && name) {
    rc = wal_birth_begin(&shim->birth, shim->real);
    if (rc != SQLITE_OK) {
      shim->real->pMethods->xClose(shim->real);
      shim->base.pMethods = NULL;
    }
  }
  return rc;
}

int shim_register(const char* unused) {
  static sqlite3_vfs vfs;
  (void)unused;
  below = sqlite3_vfs_find(NULL);
  if (!below) return SQLITE_ERROR;
  if (below == &vfs) return SQLITE_OK;
  vfs = *below;
  vfs.zName = "shim";
  vfs.szOsFile = below->szOsFile + (int)sizeof(struct shim_file);
  vfs.xOpen = shim_open;
  vfs.pNext = NULL;
  return sqlite3_vfs_register(&vfs, 1);
}
