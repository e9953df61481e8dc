#include <stdlib.h>
#include <string.h>

#include "lab.h"

struct recorded {
  sqlite3_file base;
  sqlite3_file* real;
  int file;
};

struct event* events;
int event_count, writes_until_full = -1, full_once, writes_refused, writes_made;
const char* const suffixes[MAX_FILES] = {"", "-wal", "-journal"};
static int capacity, keeping;
static sqlite3_vfs* below;

static void note(struct event event, const void* bytes) {
  if (!keeping) return;
  if (event_count == capacity) {
    capacity = capacity ? 2 * capacity : 1024;
    events = realloc(events, (size_t)capacity * sizeof *events);
    if (!events) abort();
  }
  if (event.count) {
    event.bytes = malloc((size_t)event.count);
    if (!event.bytes) abort();
    memcpy(event.bytes, bytes, (size_t)event.count);
  }
  events[event_count++] = event;
}

void recorder_acknowledge(int64_t transaction) {
  note((struct event){.kind = EVENT_ACK, .offset = transaction}, NULL);
}

void recorder_clear(void) {
  for (int i = 0; i < event_count; i++) free(events[i].bytes);
  event_count = 0;
}

static sqlite3_file* real_of(sqlite3_file* file) {
  return ((struct recorded*)file)->real;
}
static int index_of(sqlite3_file* file) {
  return ((struct recorded*)file)->file;
}

static int rec_close(sqlite3_file* f) {
  return real_of(f)->pMethods->xClose(real_of(f));
}
static int rec_read(sqlite3_file* f, void* p, int n, sqlite3_int64 o) {
  return real_of(f)->pMethods->xRead(real_of(f), p, n, o);
}
static int rec_write(sqlite3_file* f, const void* p, int n, sqlite3_int64 o) {
  if (writes_until_full == 0) {
    writes_refused++;
    if (full_once) writes_until_full = -1;
    return SQLITE_FULL;
  }
  if (writes_until_full > 0) writes_until_full--;
  writes_made++;
  note((struct event){.kind = EVENT_WRITE, .file = index_of(f), .offset = o, .count = n}, p);
  return real_of(f)->pMethods->xWrite(real_of(f), p, n, o);
}
static int rec_truncate(sqlite3_file* f, sqlite3_int64 size) {
  note((struct event){.kind = EVENT_TRUNCATE, .file = index_of(f), .offset = size}, NULL);
  return real_of(f)->pMethods->xTruncate(real_of(f), size);
}
static int rec_sync(sqlite3_file* f, int flags) {
  (void)flags; /* written down is enough: the power cuts here are not real */
  note((struct event){.kind = EVENT_SYNC, .file = index_of(f)}, NULL);
  return SQLITE_OK;
}
static int rec_size(sqlite3_file* f, sqlite3_int64* size) {
  return real_of(f)->pMethods->xFileSize(real_of(f), size);
}
static int rec_lock(sqlite3_file* f, int l) {
  return real_of(f)->pMethods->xLock(real_of(f), l);
}
static int rec_unlock(sqlite3_file* f, int l) {
  return real_of(f)->pMethods->xUnlock(real_of(f), l);
}
static int rec_reserved(sqlite3_file* f, int* r) {
  return real_of(f)->pMethods->xCheckReservedLock(real_of(f), r);
}
static int rec_control(sqlite3_file* f, int o, void* a) {
  return real_of(f)->pMethods->xFileControl(real_of(f), o, a);
}
static int rec_sector(sqlite3_file* f) {
  return real_of(f)->pMethods->xSectorSize(real_of(f));
}
static int rec_device(sqlite3_file* f) {
  return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}
static int rec_map(sqlite3_file* f, int r, int s, int e, void volatile** m) {
  return real_of(f)->pMethods->xShmMap(real_of(f), r, s, e, m);
}
static int rec_shm_lock(sqlite3_file* f, int o, int n, int l) {
  return real_of(f)->pMethods->xShmLock(real_of(f), o, n, l);
}
static void rec_barrier(sqlite3_file* f) {
  real_of(f)->pMethods->xShmBarrier(real_of(f));
}
static int rec_unmap(sqlite3_file* f, int d) {
  return real_of(f)->pMethods->xShmUnmap(real_of(f), d);
}
static int rec_fetch(sqlite3_file* f, sqlite3_int64 o, int n, void** p) {
  return real_of(f)->pMethods->xFetch(real_of(f), o, n, p);
}
static int rec_unfetch(sqlite3_file* f, sqlite3_int64 o, void* p) {
  return real_of(f)->pMethods->xUnfetch(real_of(f), o, p);
}

static const sqlite3_io_methods methods = {3,           rec_close,  rec_read,   rec_write,  rec_truncate,
                                           rec_sync,    rec_size,   rec_lock,   rec_unlock, rec_reserved,
                                           rec_control, rec_sector, rec_device, rec_map,    rec_shm_lock,
                                           rec_barrier, rec_unmap,  rec_fetch,  rec_unfetch};

static int kind_of(const char* name) {
  size_t length = strlen(name);
  for (int i = MAX_FILES - 1; i > 0; i--)
    if (length > strlen(suffixes[i]) && strcmp(name + length - strlen(suffixes[i]), suffixes[i]) == 0) return i;
  return 0;
}

static int rec_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  (void)vfs;
  if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)))
    return below->xOpen(below, name, file, flags, out);
  struct recorded* recorded = (struct recorded*)file;
  recorded->real = (sqlite3_file*)(recorded + 1);
  recorded->file = kind_of(name);
  recorded->real->pMethods = NULL;
  int rc = below->xOpen(below, name, recorded->real, flags, out);
  file->pMethods = recorded->real->pMethods ? &methods : NULL;
  return rc;
}

static int rec_delete(sqlite3_vfs* vfs, const char* name, int sync) {
  (void)vfs;
  note((struct event){.kind = EVENT_DELETE, .file = kind_of(name)}, NULL);
  (void)sync;
  return below->xDelete(below, name, 0);
}

void recorder_register(int keep_events) {
  static sqlite3_vfs vfs;
  keeping = keep_events;
  below = sqlite3_vfs_find("unix");
  vfs = *below;
  vfs.zName = "recorder";
  vfs.szOsFile += (int)sizeof(struct recorded);
  vfs.xOpen = rec_open;
  vfs.xDelete = rec_delete;
  vfs.pNext = NULL;
  sqlite3_vfs_register(&vfs, 1);
}
