/* The phases of one benchmark, run one after another, each as a process of its own; and the rows that they give. */
#ifndef PHASES_H
#define PHASES_H

#include "child.h"
#include "engine.h"

enum { PHASES = 8 };

struct phase {
  const char* name;
  struct cost cost;
  struct calls calls;
};

struct phases {
  const struct options* options;
  const char* benchmark;
  struct phase list[PHASES];
  int count;
};

/* Where each leaves its standard output. */
extern const char phase_output[];

/* Runs PROGRAM with up to five arguments (NULL ends them), and returns its standard output; the caller frees it. A
 * phase without a name is not measured: it looks at what the others did. */
char* run_phase(struct phases* phases, const char* name, const char* program, const char* const* arguments);

/* A row of each metric for each phase, for `run` (all but the population) where that is more than one, and for `total`.
 */
void print_phases(const struct phases* phases, uint64_t check);

#endif
