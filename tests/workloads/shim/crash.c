/* A power cut after every event of a recorded run: what was synced is there, what was not is there, in part, or not at
 * all. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "workloads/engine/shim/shim.h"

struct image {
  unsigned char* bytes;
  sqlite3_int64 size, capacity;
};

static void grow(struct image* image, sqlite3_int64 size) {
  if (size > image->capacity) {
    image->capacity = 2 * size;
    image->bytes = realloc(image->bytes, (size_t)image->capacity);
    if (!image->bytes) abort();
  }
  if (size > image->size) memset(image->bytes + image->size, 0, (size_t)(size - image->size));
  image->size = size;
}

static void apply(struct image* image, const struct event* event, uint64_t* torn) {
  if (event->kind == EVENT_TRUNCATE) grow(image, event->offset);
  if (event->kind != EVENT_WRITE) return;
  if (event->offset + event->count > image->size) grow(image, event->offset + event->count);
  /* A disk writes sectors whole or not at all. */
  for (int at = 0; at < event->count;) {
    int step = 512 - (int)((event->offset + at) % 512);
    if (step > event->count - at) step = event->count - at;
    if (!torn || draw(torn, 2)) memcpy(image->bytes + event->offset + at, event->bytes + at, (size_t)step);
    at += step;
  }
}

/* The files after a cut before event `end`: 0 all unsynced writes arrived, 1 none, 2 a random half of their sectors. */
static void cut(const char* path, int end, int kind) {
  struct image images[MAX_FILES] = {0};
  int exists[MAX_FILES] = {1};
  uint64_t random = (uint64_t)end;
  for (int file = 0; file < MAX_FILES; file++) {
    int synced = -1;
    for (int i = 0; i < end; i++)
      if (events[i].file == file && events[i].kind == EVENT_SYNC) synced = i;
    for (int i = 0; i < end; i++) {
      if (events[i].file != file || events[i].kind == EVENT_ACK) continue;
      exists[file] = events[i].kind != EVENT_DELETE;
      if (events[i].kind == EVENT_DELETE)
        images[file].size = 0;
      else if (i < synced || kind == 0)
        apply(&images[file], &events[i], NULL);
      else if (kind == 2)
        apply(&images[file], &events[i], &random);
    }
    char name[8192];
    snprintf(name, sizeof name, "%s%s", path, suffixes[file]);
    unlink(name);
    if (exists[file]) {
      FILE* out = fopen(name, "wb");
      if (!out || fwrite(images[file].bytes, 1, (size_t)images[file].size, out) != (size_t)images[file].size ||
          fclose(out) != 0)
        lost("cannot write %s", name);
    }
    free(images[file].bytes);
  }
  char shm[8192];
  snprintf(shm, sizeof shm, "%s-shm", path);
  unlink(shm);
}

int lab_crash(const char* folder, const char* synchronous) {
  char path[4096], image[4096];
  snprintf(path, sizeof path, "%s/crash.db", folder);
  snprintf(image, sizeof image, "%s/image.db", folder);
  recorder_register(1);
  shim_register(NULL);
  struct script script = {.random = 11};
  if (script_open(&script, path, NULL, synchronous) != SQLITE_OK) lost("cannot begin: %s", sqlite3_errmsg(script.db));
  for (int i = 0; i < 20; i++) {
    if (script_step(&script) != SQLITE_OK) lost("transaction %d: %s", i, sqlite3_errmsg(script.db));
    recorder_acknowledge(script.last);
  }
  sqlite3_close(script.db);

  int full = strcmp(synchronous, "FULL") == 0, images = 0;
  int64_t acknowledged = 0, started = script.last;
  for (int i = 0; i < event_count; i++) {
    if (events[i].kind == EVENT_ACK) acknowledged = events[i].offset;
    /* At every boundary of a sync, before and after it, and between. */
    if (events[i].kind != EVENT_SYNC && events[i].kind != EVENT_ACK && i % 31 != 0) continue;
    for (int before = 0; before < 2; before++)
      for (int kind = 0; kind < 3; kind++) {
        char where[80];
        snprintf(where, sizeof where, "cut at event %d%s, kind %d", i, before ? "" : " (after it)", kind);
        cut(image, before ? i : i + 1, kind);
        int64_t last = script_check(image, where);
        images++;
        if (last > started) lost("%s: transaction %lld was never begun", where, (long long)last);
        if (full && last < acknowledged - (before && events[i].kind == EVENT_ACK))
          lost("%s: transaction %lld was acknowledged, %lld is the last", where, (long long)acknowledged,
               (long long)last);
      }
  }
  printf("%d events, %d images sound\n", event_count, images);
  return 0;
}
