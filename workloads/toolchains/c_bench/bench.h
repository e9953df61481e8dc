/* What every program needs: clocks, random numbers, digests, and an end with a reason. */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

/* The program's name, for messages. Each program defines it. */
extern const char program[];

/* One line on standard error; exit code 2 of a wrong argument, 1 of anything else. */
_Noreturn void usage(const char* format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* fail() unless what was computed is what it must be; `what` names it. */
void must_equal(const char* what, uint64_t found, uint64_t expected);
/* Zeroed memory, or fail(). */
void* allocate(size_t count, size_t size);
/* Flushes standard output, or fail(): a full disk must not look like a short result. */
void finish_output(void);

int64_t now_ns(void);         /* monotonic */
int64_t process_cpu_ns(void); /* user and system time of this process */

/* splitmix64 (Steele, Lea, Flood 2014; constants of Vigna's splitmix64.c). Draw one number an expression: the order of
   evaluation inside of one is the compiler's choice. */
struct random {
  uint64_t state;
};
uint64_t random_next(struct random* random);
/* a + u64 % (b - a + 1): from a to b, both included. */
int64_t random_between(struct random* random, int64_t a, int64_t b);

/* FNV-1a, 64 bits. A column is its bytes and '|', a row ends with a line feed. */
#define DIGEST_START UINT64_C(0xcbf29ce484222325)
uint64_t digest_bytes(uint64_t digest, const void* bytes, size_t size);
uint64_t digest_column(uint64_t digest, const void* bytes, size_t size);
uint64_t digest_number(uint64_t digest, int64_t number); /* a column of decimal digits */
uint64_t digest_row_end(uint64_t digest);

#endif
