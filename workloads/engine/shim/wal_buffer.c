#include "wal_buffer.h"

#include <string.h>

/* Bytes 4 to 7 of a frame header: the size of the database after the commit that this frame ends, 0 for other frames.
 */
static int is_commit_header(const unsigned char* bytes, int count) {
  return count == WAL_FRAME_HEADER && (bytes[4] | bytes[5] | bytes[6] | bytes[7]) != 0;
}

static int take_error(struct wal_buffer* buffer) {
  int error = buffer->error;
  buffer->error = SQLITE_OK;
  return error;
}

static int write_out(struct wal_buffer* buffer, sqlite3_file* file) {
  if (buffer->used == 0) return SQLITE_OK;
  int count = buffer->used;
  buffer->used = 0;
  return file->pMethods->xWrite(file, buffer->bytes, count, buffer->offset);
}

void wal_buffer_end(struct wal_buffer* buffer) {
  buffer->used = buffer->commit_page_due = 0;
  buffer->error = SQLITE_OK;
  buffer->written_end = 0;
}

int wal_buffer_flush(struct wal_buffer* buffer, sqlite3_file* file) {
  int rc = write_out(buffer, file);
  if (buffer->error == SQLITE_OK) {
    buffer->error = rc;
    buffer->lost_from = buffer->offset;
  }
  return buffer->error;
}

int wal_buffer_sync(struct wal_buffer* buffer, sqlite3_file* file, int flags) {
  wal_buffer_flush(buffer, file);
  int rc = take_error(buffer);
  return rc != SQLITE_OK ? rc : file->pMethods->xSync(file, flags);
}

int wal_buffer_write(struct wal_buffer* buffer, sqlite3_file* file, const void* bytes, int count,
                     sqlite3_int64 offset) {
  int rc = take_error(buffer);
  if (rc != SQLITE_OK) return rc;
  if (!buffer->bytes && !(buffer->bytes = sqlite3_malloc(WAL_BUFFER_SIZE))) return SQLITE_NOMEM;
  /* The log begins anew. */
  if (offset == 0) buffer->written_end = 0;
  int again = offset < buffer->written_end;
  if (buffer->used && (again || offset != buffer->offset + buffer->used || count > WAL_BUFFER_SIZE - buffer->used)) {
    rc = write_out(buffer, file);
    if (rc != SQLITE_OK) return rc;
  }
  /* Frames that a transaction writes again, and their checksums behind the commit, go straight through. */
  if (again || count > WAL_BUFFER_SIZE) return file->pMethods->xWrite(file, bytes, count, offset);
  if (buffer->used == 0) buffer->offset = offset;
  memcpy(buffer->bytes + buffer->used, bytes, (size_t)count);
  buffer->used += count;
  buffer->written_end = offset + count;
  /* A commit leaves with its page, in the write that can still fail: when the index of the log tells others about it,
   * by xShmBarrier, a full disk could not be reported any more. */
  int commit_complete = buffer->commit_page_due;
  buffer->commit_page_due = is_commit_header(bytes, count);
  return commit_complete ? write_out(buffer, file) : SQLITE_OK;
}

int wal_buffer_read(struct wal_buffer* buffer, sqlite3_file* file, void* bytes, int count, sqlite3_int64 offset) {
  sqlite3_int64 begin = buffer->offset, end = buffer->offset + buffer->used;
  if (buffer->used && offset >= begin && offset + count <= end) {
    memcpy(bytes, buffer->bytes + (offset - begin), (size_t)count);
    return SQLITE_OK;
  }
  /* A read behind the buffer flushes it as well: how far the file reaches depends on it. */
  if (buffer->used && offset + count > begin) wal_buffer_flush(buffer, file);
  if (buffer->error != SQLITE_OK && offset + count > buffer->lost_from) return buffer->error;
  return file->pMethods->xRead(file, bytes, count, offset);
}

void wal_buffer_free(struct wal_buffer* buffer) {
  sqlite3_free(buffer->bytes);
  memset(buffer, 0, sizeof *buffer);
}
