/* Counts the system calls of a child by stopping it at each. */
#ifndef TRACE_H
#define TRACE_H

#include <sys/types.h>

#include "child.h"

/* In the child, before it becomes the program. Not 0: refused. */
int trace_me(void);
/* In the parent: until the child has ended, but before it is reaped. */
void trace_calls(pid_t child, struct calls* calls);

#endif
