#include "gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static char* read_all(FILE* file, const char* path) {
  size_t size = 0, room = 1 << 16;
  char* text = malloc(room);
  while (text) {
    size += fread(text + size, 1, room - size - 1, file);
    if (size < room - 1) break;
    text = realloc(text, room *= 2);
  }
  if (!text || ferror(file)) fail(EXIT_FAILED, "%s: it could not be read", path);
  text[size] = 0;
  return text;
}

char* read_text(const char* path) {
  FILE* file = fopen(path, "r");
  if (!file) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
  char* text = read_all(file, path);
  fclose(file);
  return text;
}

void check_golden(const char* name, const char* text) {
  char path[4200];
  snprintf(path, sizeof path, "%s/golden/%s.txt", bundle_folder(), name);
  FILE* file = fopen(path, "r");
  if (!file && errno == ENOENT) return;
  if (!file) fail(EXIT_FAILED, "%s: %s", path, strerror(errno));
  char* golden = read_all(file, path);
  fclose(file);
  if (strcmp(golden, text) != 0) {
    size_t same = 0;
    while (golden[same] && golden[same] == text[same]) same++;
    while (same > 0 && golden[same - 1] != '\n') same--;
    fail(EXIT_GATE, "WRONG ANSWER, the trial is void: golden/%s.txt has '%.*s', this build of SQLite gives '%.*s'",
         name, (int)strcspn(golden + same, "\n"), golden + same, (int)strcspn(text + same, "\n"), text + same);
  }
  free(golden);
}

char* require_line(const char* text, const char* program, const char* start) {
  size_t length = strlen(start);
  for (const char* line = text; line && *line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, start, length) == 0) return strndup(line + length, strcspn(line + length, "\n"));
  }
  fail(EXIT_GATE, "WRONG ANSWER, the trial is void: %s printed no line '%s'", program, start);
}

void require_value(const char* program, const char* what, const char* found, const char* wanted) {
  if (strcmp(found, wanted) != 0)
    fail(EXIT_GATE, "WRONG ANSWER, the trial is void: %s of %s is '%s', must be '%s'", what, program, found, wanted);
}

uint64_t digest(const char* text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}
