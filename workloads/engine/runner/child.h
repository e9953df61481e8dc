/* Runs one program of SQLite's or ours and measures it from outside. */
#ifndef CHILD_H
#define CHILD_H

#include <stdint.h>

struct cost {
  int64_t wall_ns; /* fork to reap */
  int64_t user_ns, system_ns;
  int64_t minor_faults, major_faults;
  int64_t written_bytes; /* what the kernel wrote, or will write, to a device for it */
};

void add_cost(struct cost* sum, const struct cost* part);

/* The system calls that tell how an engine treats its files. pread and pwrite stand for read and write too. */
enum call { CALL_FSYNC, CALL_FDATASYNC, CALL_UNLINK, CALL_PREAD, CALL_PWRITE, CALL_TRUNCATE, CALL_LOCK, CALL_KINDS };
extern const char* const call_names[CALL_KINDS];

struct calls {
  int64_t count[CALL_KINDS];
};

/* Runs argv[0], a path, with standard output in the file `output`. With `calls` its system calls are counted, which
 * makes it slow: its cost then says nothing. A program that does not end with exit code 0 ends this one with exit code
 * 1, and with 75 when this system does not let a process be traced. */
struct cost run_child(const char* const* argv, const char* output, struct calls* calls);

#endif
