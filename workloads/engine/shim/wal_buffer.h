/* Gathers the many small writes of a write-ahead log into few large ones.
 *
 * SQLite writes each frame of the log as two writes: a header of 24 bytes and a page. A transaction of a thousand pages
 * is two thousand system calls, for bytes that lie side by side. Here they wait in a buffer and leave together. Nobody
 * else may look at them earlier: readers look only at frames up to the last commit, so the buffer is empty when a
 * commit is told. */
#ifndef WAL_BUFFER_H
#define WAL_BUFFER_H

#include "sqlite3.h"

/* The largest frame: a header and a page of 64 KiB. Below 0x1ffff, the most that SQLite's unix VFS writes at once. */
enum { WAL_FRAME_HEADER = 24, WAL_BUFFER_SIZE = WAL_FRAME_HEADER + 65536 };

struct wal_buffer {
  unsigned char* bytes; /* allocated at the first write */
  sqlite3_int64 offset; /* of bytes[0] in the file */
  int used;
  int commit_page_due;       /* the last header was that of a commit: its page is what comes next */
  sqlite3_int64 written_end; /* how far this transaction has written, buffer included */
  int error;                 /* of a flush that no write and no sync has returned yet */
  sqlite3_int64 lost_from;   /* what stands from here on is not in the file, while `error` is set */
};

/* The write transaction has ended. Committed, it has left nothing here; rolled back, what is left concerns nobody. */
void wal_buffer_end(struct wal_buffer* buffer);

/* All others return SQLite result codes. `file` is the log itself. A failed flush has lost what waited, so it stays an
 * error until a write or a sync has returned it: those are the calls after which SQLite always gives the transaction
 * up. */
int wal_buffer_write(struct wal_buffer* buffer, sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset);
int wal_buffer_read(struct wal_buffer* buffer, sqlite3_file* file, void* bytes, int count, sqlite3_int64 offset);
int wal_buffer_flush(struct wal_buffer* buffer, sqlite3_file* file);
int wal_buffer_sync(struct wal_buffer* buffer, sqlite3_file* file, int flags);
void wal_buffer_free(struct wal_buffer* buffer);

#endif
