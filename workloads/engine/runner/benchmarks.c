/* The four benchmarks: which programs with which arguments, and what must be true of what they print. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "amounts.h"
#include "amounts_generated.h"
#include "gate.h"
#include "phases.h"

static const char database[] = "engine.db";

static const struct amounts* find_amounts(const char* size) {
  for (size_t i = 0; i < sizeof all_amounts / sizeof *all_amounts; i++)
    if (strcmp(all_amounts[i].size, size) == 0) return &all_amounts[i];
  fail(EXIT_USAGE, "there is no size '%s'", size);
}

/* Numbers as arguments; each use has a place of its own. */
static const char* text_of(int64_t number) {
  static char texts[16][24];
  static unsigned next;
  char* text = texts[next++ % 16];
  snprintf(text, sizeof texts[0], "%" PRId64, number);
  return text;
}

static void remove_files(void) {
  static const char* const suffixes[] = {"", "-journal", "-wal", "-shm"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s%s", database, suffixes[i]);
    unlink(name);
  }
  unlink(phase_output);
}

static uint64_t run_speedtest1(struct phases* phases, const struct amounts* amounts, const char* golden) {
  /* mix1, its usual choice, needs the R-Tree module, which a build with all defaults lacks. */
  const char* const arguments[] = {"--testset",
                                   "main,orm/25,cte/20,json,fp/3,parsenumber/25,star,app",
                                   "--verify",
                                   "--size",
                                   text_of(amounts->speedtest1_size),
                                   database,
                                   NULL};
  char* output = run_phase(phases, "run", "speedtest1", arguments);
  char line[128];
  char* hash = require_line(output, "speedtest1", "Verification Hash: ");
  snprintf(line, sizeof line, "%s\n", hash);
  check_golden(golden, line);
  uint64_t check = digest(line);
  free(hash);
  free(output);
  return check;
}

/* kvtest fills its blobs with random bytes of its own: what is true of every database is their number, their size and
 * that the file is sound. */
static uint64_t run_kvtest(struct phases* phases, const struct amounts* amounts) {
  const char* const init[] = {
      "init", database, "--count", text_of(amounts->kvtest_blobs), "--size", text_of(amounts->kvtest_bytes), NULL};
  const char* const reads[] = {"run", database, "--random", "--count", text_of(amounts->kvtest_reads), NULL};
  const char* const single_reads[] = {
      "run", database, "--random", "--multitrans", "--count", text_of(amounts->kvtest_single_reads), NULL};
  const char* const single_updates[] = {
      "run", database, "--random", "--multitrans", "--update", "--count", text_of(amounts->kvtest_single_updates),
      NULL};
  const char* const stat[] = {"stat", database, NULL};
  free(run_phase(phases, "population", "kvtest", init));
  free(run_phase(phases, "reads", "kvtest", reads));
  free(run_phase(phases, "single_reads", "kvtest", single_reads));
  free(run_phase(phases, "single_updates", "kvtest", single_updates));
  char* output = run_phase(phases, NULL, "kvtest", stat);
  const struct {
    const char *line, *wanted;
  } facts[] = {{"Number of entries: ", text_of(amounts->kvtest_blobs)},
               {"Minimum value size: ", text_of(amounts->kvtest_bytes)},
               {"Maximum value size: ", text_of(amounts->kvtest_bytes)},
               {"Integrity-check: ", "ok"}};
  uint64_t check = 0;
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    char* found = require_line(output, "kvtest", facts[i].line);
    const char* value = found + strspn(found, " ");
    require_value("kvtest", facts[i].line, value, facts[i].wanted);
    check = check * 31 + digest(value);
    free(found);
  }
  free(output);
  return check;
}

static uint64_t run_tatp(struct phases* phases, const struct amounts* amounts, const char* golden) {
  const char *seed = text_of(phases->options->seed), *subscribers = text_of(amounts->tatp_subscribers);
  const char* const populate[] = {"populate", database, subscribers, seed, NULL};
  const char* const run[] = {"run", database, subscribers, text_of(amounts->tatp_transactions), seed, NULL};
  const char* const state[] = {"state", database, NULL};
  free(run_phase(phases, "population", "tatp", populate));
  char* done = run_phase(phases, "run", "tatp", run);
  char* left = run_phase(phases, NULL, "tatp", state);
  char* all = malloc(strlen(done) + strlen(left) + 1);
  if (!all) fail(EXIT_FAILED, "out of memory");
  strcat(strcpy(all, done), left);
  check_golden(golden, all);
  uint64_t check = digest(all);
  free(all);
  free(left);
  free(done);
  return check;
}

static uint64_t run_ssb(struct phases* phases, const struct amounts* amounts, const char* golden) {
  const char* const populate[] = {"populate", database, text_of(amounts->ssb_milli_scale),
                                  text_of(phases->options->seed), NULL};
  const char* const run[] = {"run", database, text_of(amounts->ssb_rounds), NULL};
  free(run_phase(phases, "population", "ssb", populate));
  char* output = run_phase(phases, "run", "ssb", run);
  check_golden(golden, output);
  uint64_t check = digest(output);
  free(output);
  return check;
}

static uint64_t run_phases(struct phases* phases, const struct amounts* amounts) {
  char golden[128];
  const char* name = phases->benchmark;
  if (strcmp(name, "speedtest1") == 0 || strcmp(name, "kvtest") == 0)
    snprintf(golden, sizeof golden, "%s-%s", name, amounts->size);
  else
    snprintf(golden, sizeof golden, "%s-%s-%" PRId64, name, amounts->size, phases->options->seed);
  if (strcmp(name, "speedtest1") == 0) return run_speedtest1(phases, amounts, golden);
  if (strcmp(name, "kvtest") == 0) return run_kvtest(phases, amounts);
  if (strcmp(name, "tatp") == 0) return run_tatp(phases, amounts, golden);
  return run_ssb(phases, amounts, golden);
}

static void train(const struct options* options) {
  static const char* const all[] = {"speedtest1", "kvtest", "tatp", "ssb"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct phases phases = {.options = options, .benchmark = all[i]};
    remove_files();
    run_phases(&phases, find_amounts("training"));
  }
  remove_files();
}

void run_benchmark(const struct options* options) {
  setenv("ENGINE_DURABILITY", options->deployment ? "deployment" : "neutral", 1);
  if (options->training) return train(options);
  struct phases phases = {.options = options, .benchmark = options->benchmark};
  if (access(database, F_OK) == 0) fail(EXIT_USAGE, "there is a file '%s' here already", database);
  uint64_t check = run_phases(&phases, find_amounts(options->size));
  print_phases(&phases, check);
  remove_files();
}
