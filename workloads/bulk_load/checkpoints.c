#include "checkpoints.h"

#include "bench.h"
#include "sqlite3.h"

struct checkpoints checkpoints;

static sqlite3_vfs* below;
/* The methods of the default VFS, and copies with ours in two places. It has one table for each kind of file. */
static const sqlite3_io_methods *database_below, *wal_below;
static sqlite3_io_methods database_methods, wal_methods;
static int64_t wal_sync_began_ns, copy_began_ns;
static int copied; /* a checkpoint has copied its pages and may still sync the database */

static int sync_wal(sqlite3_file* file, int flags) {
  wal_sync_began_ns = now_ns();
  return wal_below->xSync(file, flags);
}

/* A checkpoint syncs the WAL, says START, copies, says DONE, and syncs the database if all of the WAL was copied. In
   WAL mode nothing else syncs the database. */
static int control_database(sqlite3_file* file, int operation, void* argument) {
  if (operation == SQLITE_FCNTL_CKPT_START) {
    checkpoints.count++;
    copy_began_ns = now_ns();
    checkpoints.ns += wal_sync_began_ns ? copy_began_ns - wal_sync_began_ns : 0;
  } else if (operation == SQLITE_FCNTL_CKPT_DONE) {
    copied = 1;
    checkpoints.ns += now_ns() - copy_began_ns;
  }
  return database_below->xFileControl(file, operation, argument);
}

static int sync_database(sqlite3_file* file, int flags) {
  int64_t began = now_ns();
  int rc = database_below->xSync(file, flags);
  if (copied) checkpoints.ns += now_ns() - began;
  copied = 0;
  return rc;
}

static int open_watched(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* flags_out) {
  (void)vfs;
  int rc = below->xOpen(below, name, file, flags, flags_out);
  if (rc != SQLITE_OK || !file->pMethods) return rc;
  if (flags & SQLITE_OPEN_MAIN_DB) {
    database_below = file->pMethods;
    database_methods = *database_below;
    database_methods.xFileControl = control_database;
    database_methods.xSync = sync_database;
    file->pMethods = &database_methods;
  } else if (flags & SQLITE_OPEN_WAL) {
    wal_below = file->pMethods;
    wal_methods = *wal_below;
    wal_methods.xSync = sync_wal;
    file->pMethods = &wal_methods;
  }
  return rc;
}

void register_watching_vfs(void) {
  static sqlite3_vfs watching;
  below = sqlite3_vfs_find(NULL);
  if (!below) fail("this SQLite has no VFS");
  watching = *below;
  watching.zName = WATCHING_VFS;
  watching.pNext = NULL;
  watching.xOpen = open_watched;
  int rc = sqlite3_vfs_register(&watching, 0);
  if (rc != SQLITE_OK) fail("the VFS that watches checkpoints: %s", sqlite3_errstr(rc));
}
