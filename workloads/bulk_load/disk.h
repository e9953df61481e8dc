/* What the disk below the working directory gives at most, by two short probes. */
#ifndef DISK_H
#define DISK_H

#include <stdint.h>

/* Each probe takes `ms` or a single piece of work. Prints the rows of case disk. */
void probe_disk(int64_t ms);

#endif
