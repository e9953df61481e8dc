/* What must be true of a benchmark's output before its time means anything. A gate that fails ends the program with
 * exit code 6, and nothing of the trial counts. */
#ifndef GATE_H
#define GATE_H

#include <stdint.h>

/* The text of a file; the caller frees it. */
char* read_text(const char* path);

/* `text` must be that of golden/NAME.txt in the bundle, byte by byte. Without such a file (a seed that nobody has
 * looked at) there is only the check, by which arms are compared. */
void check_golden(const char* name, const char* text);
/* A line that begins with `start` must be there; returns what follows it. The caller frees it. */
char* require_line(const char* text, const char* program, const char* start);
/* What `found`, the rest of a line, must be. */
void require_value(const char* program, const char* what, const char* found, const char* wanted);

/* FNV-1a-64. */
uint64_t digest(const char* text);

#endif
