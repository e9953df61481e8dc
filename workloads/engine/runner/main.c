#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "gate.h"

const char* bundle_folder(void) {
  static char folder[4096];
  if (folder[0]) return folder;
  ssize_t size = readlink("/proc/self/exe", folder, sizeof folder - 1);
  if (size < 0) fail(EXIT_FAILED, "/proc/self/exe: %s", strerror(errno));
  folder[size] = 0;
  for (int i = 0; i < 2; i++) *strrchr(folder, '/') = 0; /* FOLDER/bin/engine */
  return folder;
}

/* What a build may be for, the best first. */
static const char* const instruction_sets[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2", "armv8-a"};

static int cpu_has(const char* isa) {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (strcmp(isa, "x86-64-v4") == 0) return __builtin_cpu_supports("x86-64-v4");
  if (strcmp(isa, "x86-64-v3") == 0) return __builtin_cpu_supports("x86-64-v3");
  if (strcmp(isa, "x86-64-v2") == 0) return __builtin_cpu_supports("x86-64-v2");
  return 0;
#else
  return strcmp(isa, "armv8-a") == 0;
#endif
}

const char* program_folder(void) {
  static char folder[4200];
  char built[128] = "";
  if (folder[0]) return folder;
  for (size_t i = 0; i < sizeof instruction_sets / sizeof *instruction_sets; i++) {
    const char* isa = instruction_sets[i];
    snprintf(folder, sizeof folder, "%s/programs/%s", bundle_folder(), isa);
    if (access(folder, X_OK) != 0) continue;
    if (cpu_has(isa)) return folder;
    snprintf(built + strlen(built), sizeof built - strlen(built), " %s", isa);
  }
  fail(EXIT_UNSUPPORTED, "not built for this CPU: it lacks%s", built);
}

void print_info(void) {
  char path[4200];
  snprintf(path, sizeof path, "%s/recipe.json", bundle_folder());
  char* recipe = read_text(path);
  fputs(recipe, stdout);
  free(recipe);
}

int main(int argc, char** argv) {
  struct options options = parse_options(argc, argv);
  if (options.info)
    print_info();
  else
    run_benchmark(&options);
  if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
  fail(EXIT_FAILED, "standard output: it could not be written in full");
}
