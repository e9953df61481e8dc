/* How many checkpoints there were and how long they took, seen where SQLite tells its file system about them: a VFS
   that is the default one but for two methods of the database and the WAL. It changes nothing of what is done. */
#ifndef CHECKPOINTS_H
#define CHECKPOINTS_H

#include <stdint.h>

#define WATCHING_VFS "watching"

struct checkpoints {
  int64_t count;
  int64_t ns; /* from the sync of the WAL before to the sync of the database after */
};
/* Of all connections of this process through the VFS. */
extern struct checkpoints checkpoints;

void register_watching_vfs(void);

#endif
