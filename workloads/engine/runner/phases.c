#include "phases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gate.h"

const char phase_output[] = "engine.out";

char* run_phase(struct phases* phases, const char* name, const char* program, const char* const* arguments) {
  char path[4200];
  const char* argv[32] = {path};
  snprintf(path, sizeof path, "%s/%s", program_folder(), program);
  for (int i = 0; arguments[i]; i++) argv[i + 1] = arguments[i];
  struct calls calls = {0};
  int counted = name && phases->options->counts;
  struct cost cost = run_child(argv, phase_output, counted ? &calls : NULL);
  if (name) phases->list[phases->count++] = (struct phase){name, cost, calls};
  return read_text(phase_output);
}

static void print_row(const struct phases* phases, const char* name, const char* metric, const char* unit,
                      int64_t value, uint64_t check) {
  printf("%s/%s,%s,%s,%" PRId64 ",lower,%016" PRIx64 "\n", phases->benchmark, name, metric, unit, value, check);
}

static void print_phase(const struct phases* phases, const struct phase* phase, uint64_t check) {
  if (phases->options->counts) {
    for (int i = 0; i < CALL_KINDS; i++)
      print_row(phases, phase->name, call_names[i], "calls", phase->calls.count[i], check);
    return;
  }
  const struct cost* cost = &phase->cost;
  print_row(phases, phase->name, "wall", "ns", cost->wall_ns, check);
  print_row(phases, phase->name, "cpu", "ns", cost->user_ns + cost->system_ns, check);
  print_row(phases, phase->name, "user", "ns", cost->user_ns, check);
  print_row(phases, phase->name, "system", "ns", cost->system_ns, check);
  print_row(phases, phase->name, "page_faults", "faults", cost->minor_faults + cost->major_faults, check);
  print_row(phases, phase->name, "written", "bytes", cost->written_bytes, check);
}

/* The sum of the phases from `first` on, under a name of its own. */
static void print_sum(const struct phases* phases, int first, const char* name, uint64_t check) {
  struct phase sum = {.name = name};
  for (int i = first; i < phases->count; i++) {
    add_cost(&sum.cost, &phases->list[i].cost);
    for (int k = 0; k < CALL_KINDS; k++) sum.calls.count[k] += phases->list[i].calls.count[k];
  }
  print_phase(phases, &sum, check);
}

void print_phases(const struct phases* phases, uint64_t check) {
  puts("case,metric,unit,value,better,check");
  for (int i = 0; i < phases->count; i++) print_phase(phases, &phases->list[i], check);
  if (phases->count > 2) print_sum(phases, 1, "run", check);
  print_sum(phases, 0, "total", check);
}
