/* A second process that reads while the load writes, one snapshot after another. */
#ifndef READER_H
#define READER_H

#include <sys/types.h>

#include "bulk_load.h"

struct reader {
  pid_t process;
  int stop; /* closed to end it */
  int answer;
};

/* The table must exist, and this process must have no connection open. Returns when the reader holds its first
 * snapshot. */
struct reader start_reader(const struct options* options);
/* Ends it and prints the rows of case reader; fail() if it has failed. */
void finish_reader(struct reader* reader);

#endif
