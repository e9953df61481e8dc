#include "calls.h"

#include <stdarg.h>
#include <sys/types.h>

const char* const call_names[CALL_KINDS] = {"fsync", "fdatasync", "pread", "pwrite", "unlink", "fcntl"};
struct calls calls;

int __real_fsync(int fd);
int __real_fdatasync(int fd);
ssize_t __real_pread(int fd, void* to, size_t size, off_t at);
ssize_t __real_pread64(int fd, void* to, size_t size, off_t at);
ssize_t __real_pwrite(int fd, const void* from, size_t size, off_t at);
ssize_t __real_pwrite64(int fd, const void* from, size_t size, off_t at);
int __real_unlink(const char* path);
int __real_fcntl(int fd, int command, ...);
int __real_fcntl64(int fd, int command, ...);

int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
ssize_t __wrap_pread(int fd, void* to, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void* to, size_t size, off_t at);
ssize_t __wrap_pwrite(int fd, const void* from, size_t size, off_t at);
ssize_t __wrap_pwrite64(int fd, const void* from, size_t size, off_t at);
int __wrap_unlink(const char* path);
int __wrap_fcntl(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);

int __wrap_fsync(int fd) {
  calls.made[CALL_FSYNC]++;
  return __real_fsync(fd);
}

int __wrap_fdatasync(int fd) {
  calls.made[CALL_FDATASYNC]++;
  return __real_fdatasync(fd);
}

ssize_t __wrap_pread(int fd, void* to, size_t size, off_t at) {
  calls.made[CALL_PREAD]++;
  return __real_pread(fd, to, size, at);
}

ssize_t __wrap_pread64(int fd, void* to, size_t size, off_t at) {
  calls.made[CALL_PREAD]++;
  return __real_pread64(fd, to, size, at);
}

ssize_t __wrap_pwrite(int fd, const void* from, size_t size, off_t at) {
  calls.made[CALL_PWRITE]++;
  return __real_pwrite(fd, from, size, at);
}

ssize_t __wrap_pwrite64(int fd, const void* from, size_t size, off_t at) {
  calls.made[CALL_PWRITE]++;
  return __real_pwrite64(fd, from, size, at);
}

int __wrap_unlink(const char* path) {
  calls.made[CALL_UNLINK]++;
  return __real_unlink(path);
}

/* The third argument, where there is one, is an int or a pointer: either travels as a pointer on our platforms. */
#define FORWARD_FCNTL(name)                      \
  int __wrap_##name(int fd, int command, ...) {  \
    va_list arguments;                           \
    va_start(arguments, command);                \
    void* argument = va_arg(arguments, void*);   \
    va_end(arguments);                           \
    calls.made[CALL_FCNTL]++;                    \
    return __real_##name(fd, command, argument); \
  }
FORWARD_FCNTL(fcntl)
FORWARD_FCNTL(fcntl64)
