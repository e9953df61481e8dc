#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void say(const char* format, va_list arguments, const char* end) {
  fprintf(stderr, "%s: ", program);
  vfprintf(stderr, format, arguments);
  fputs(end, stderr);
}

_Noreturn void usage(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments, "; see --help\n");
  exit(2);
}

_Noreturn void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments, "\n");
  exit(1);
}

void must_equal(const char* what, uint64_t found, uint64_t expected) {
  if (found != expected)
    fail("%s: wrong values: check %016llx instead of %016llx", what, (unsigned long long)found,
         (unsigned long long)expected);
}

void* allocate(size_t count, size_t size) {
  void* memory = calloc(count ? count : 1, size);
  if (!memory) fail("out of memory for %zu times %zu bytes", count, size);
  return memory;
}

void finish_output(void) {
  if (fflush(stdout) != 0 || ferror(stdout)) fail("standard output: it could not be written in full");
}

static int64_t read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t now_ns(void) {
  return read_clock(CLOCK_MONOTONIC);
}

int64_t process_cpu_ns(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t random_next(struct random* random) {
  uint64_t mixed = (random->state += UINT64_C(0x9e3779b97f4a7c15));
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
  return mixed ^ (mixed >> 31);
}

int64_t random_between(struct random* random, int64_t a, int64_t b) {
  return a + (int64_t)(random_next(random) % (uint64_t)(b - a + 1));
}

uint64_t digest_bytes(uint64_t digest, const void* bytes, size_t size) {
  const unsigned char* byte = bytes;
  for (size_t i = 0; i < size; i++) digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
  return digest;
}

uint64_t digest_column(uint64_t digest, const void* bytes, size_t size) {
  return digest_bytes(digest_bytes(digest, bytes, size), "|", 1);
}

uint64_t digest_number(uint64_t digest, int64_t number) {
  char text[24];
  return digest_column(digest, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)number));
}

uint64_t digest_row_end(uint64_t digest) {
  return digest_bytes(digest, "\n", 1);
}
