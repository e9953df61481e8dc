#include "trace.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine.h"

const char* const call_names[CALL_KINDS] = {"fsync", "fdatasync", "unlink", "pread", "pwrite", "truncate", "lock"};

static const struct {
  long number;
  enum call call;
} known[] = {
    {SYS_fsync, CALL_FSYNC},   {SYS_fdatasync, CALL_FDATASYNC}, {SYS_unlinkat, CALL_UNLINK},
    {SYS_pread64, CALL_PREAD}, {SYS_read, CALL_PREAD},          {SYS_pwrite64, CALL_PWRITE},
    {SYS_write, CALL_PWRITE},  {SYS_ftruncate, CALL_TRUNCATE},  {SYS_fcntl, CALL_LOCK},
#ifdef SYS_unlink
    {SYS_unlink, CALL_UNLINK},
#endif
};

int trace_me(void) {
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) return -1;
  return raise(SIGSTOP);
}

/* Writes to a pipe or standard output are no business of the engine's, but few; files are what it reads and writes. */
static void count(struct calls* calls, unsigned long number) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].number == (long)number) calls->count[known[i].call]++;
}

/* 1: the child has stopped, by `signal`. 0: it has ended, and is left for the caller to reap. */
static int wait_for_stop(pid_t child, int* signal) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  while (waitid(P_PID, (id_t)child, &info, WSTOPPED | WEXITED | WNOWAIT) != 0)
    if (errno != EINTR) fail(EXIT_FAILED, "wait for a traced program: %s", strerror(errno));
  if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED) return 0;
  *signal = info.si_status;
  /* Takes the stop itself, so that the next wait waits for the next one. */
  waitid(P_PID, (id_t)child, &info, WSTOPPED);
  return 1;
}

void trace_calls(pid_t child, struct calls* calls) {
  int signal = 0;
  if (!wait_for_stop(child, &signal)) return;
  if (ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) != 0)
    fail(EXIT_UNSUPPORTED, "system calls cannot be counted here: %s", strerror(errno));
  int deliver = 0;
  while (ptrace(PTRACE_SYSCALL, child, NULL, (void*)(long)deliver) == 0 && wait_for_stop(child, &signal)) {
    deliver = 0;
    if (signal == (SIGTRAP | 0x80)) {
      struct __ptrace_syscall_info info;
      if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY)
        count(calls, info.entry.nr);
    } else if (signal != SIGTRAP) { /* the trap is exec's own */
      deliver = signal;
    }
  }
}
