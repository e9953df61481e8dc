#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "trace.h"

enum { BYTES_OF_A_BLOCK = 512 }; /* getrusage(2): ru_oublock counts such */

void add_cost(struct cost* sum, const struct cost* part) {
  sum->wall_ns += part->wall_ns;
  sum->user_ns += part->user_ns;
  sum->system_ns += part->system_ns;
  sum->minor_faults += part->minor_faults;
  sum->major_faults += part->major_faults;
  sum->written_bytes += part->written_bytes;
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t nanoseconds(struct timeval time) {
  return time.tv_sec * 1000000000 + time.tv_usec * 1000;
}

static _Noreturn void become(const char* const* argv, const char* output, int traced) {
  int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || dup2(file, STDOUT_FILENO) < 0) {
    fprintf(stderr, "engine: %s: %s\n", output, strerror(errno));
    _exit(EXIT_FAILED);
  }
  close(file);
  if (traced && trace_me() != 0) _exit(EXIT_UNSUPPORTED);
  execv(argv[0], (char* const*)argv);
  fprintf(stderr, "engine: %s: %s\n", argv[0], strerror(errno));
  _exit(EXIT_FAILED);
}

struct cost run_child(const char* const* argv, const char* output, struct calls* calls) {
  struct rusage usage;
  int status = 0;
  fflush(NULL);
  int64_t start = now_ns();
  pid_t child = fork();
  if (child < 0) fail(EXIT_FAILED, "fork: %s", strerror(errno));
  if (child == 0) become(argv, output, calls != NULL);
  if (calls) trace_calls(child, calls);
  while (wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR) fail(EXIT_FAILED, "wait for %s: %s", argv[0], strerror(errno));
  int64_t wall = now_ns() - start;
  if (WIFSIGNALED(status)) fail(EXIT_FAILED, "%s %s was ended by signal %d", argv[0], argv[1], WTERMSIG(status));
  if (WEXITSTATUS(status) == EXIT_UNSUPPORTED)
    fail(EXIT_UNSUPPORTED, "system calls cannot be counted here: ptrace is refused");
  if (WEXITSTATUS(status) != 0)
    fail(EXIT_FAILED, "%s %s ended with exit code %d", argv[0], argv[1], WEXITSTATUS(status));
  return (struct cost){wall,
                       nanoseconds(usage.ru_utime),
                       nanoseconds(usage.ru_stime),
                       usage.ru_minflt,
                       usage.ru_majflt,
                       usage.ru_oublock * BYTES_OF_A_BLOCK};
}
