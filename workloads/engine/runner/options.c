#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

static const char help[] =
    "engine [--counts] --benchmark speedtest1|kvtest|tatp|ssb [--size quick|standard|large] [--seed N]\n"
    "       [--durability neutral|deployment]\n"
    "engine --training | --info | --help\n"
    "  --counts        how many system calls of some kinds, in place of time\n"
    "  --size          the amounts are those of sizes.toml (standard)\n"
    "  --seed N        of tatp and ssb (1)\n"
    "  --durability    neutral: synchronous=FULL in every variant; deployment: as the variant would be used (neutral)\n"
    "  --training      everything once, without rows: what a profile is made from\n"
    "  --info          what this build is, as JSON\n";

_Noreturn void fail(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("engine: ", stderr);
  vfprintf(stderr, format, arguments);
  fputs(code == EXIT_USAGE ? "; see --help\n" : "\n", stderr);
  exit(code);
}

static const char* one_of(const char* flag, const char* value, const char* const* choices) {
  for (int i = 0; choices[i]; i++)
    if (strcmp(value, choices[i]) == 0) return choices[i];
  fail(EXIT_USAGE, "%s: there is no '%s'", flag, value);
}

static int64_t parse_seed(const char* text) {
  size_t digits = strspn(text, "0123456789");
  int64_t seed = digits > 0 && digits <= 10 && !text[digits] ? atoll(text) : 0;
  if (seed < 1 || seed > 1000000000) fail(EXIT_USAGE, "--seed: '%s' is not a whole number from 1 to 1000000000", text);
  return seed;
}

struct options parse_options(int argc, char** argv) {
  static const char* const benchmarks[] = {"speedtest1", "kvtest", "tatp", "ssb", NULL};
  static const char* const sizes[] = {"quick", "standard", "large", NULL};
  static const char* const durabilities[] = {"neutral", "deployment", NULL};
  struct options options = {.size = "standard", .seed = 1};
  for (int i = 1; i < argc; i++) {
    const char* flag = argv[i];
    if (strcmp(flag, "--help") == 0) {
      fputs(help, stdout);
      exit(0);
    } else if (strcmp(flag, "--info") == 0) {
      options.info = 1;
      continue;
    } else if (strcmp(flag, "--training") == 0) {
      options.training = 1;
      continue;
    } else if (strcmp(flag, "--counts") == 0) {
      options.counts = 1;
      continue;
    }
    static const char* const with_value[] = {"--benchmark", "--size", "--seed", "--durability"};
    size_t known = 0;
    while (known < sizeof with_value / sizeof *with_value && strcmp(flag, with_value[known]) != 0) known++;
    if (known == sizeof with_value / sizeof *with_value) fail(EXIT_USAGE, "unknown argument '%s'", flag);
    const char* value = argv[++i];
    if (!value) fail(EXIT_USAGE, "%s needs a value", flag);
    switch (known) {
      case 0:
        options.benchmark = one_of(flag, value, benchmarks);
        break;
      case 1:
        options.size = one_of(flag, value, sizes);
        break;
      case 2:
        options.seed = parse_seed(value);
        break;
      case 3:
        options.deployment = strcmp(one_of(flag, value, durabilities), "deployment") == 0;
        break;
    }
  }
  if (options.info + options.training + (options.benchmark != NULL) != 1)
    fail(EXIT_USAGE, "one of --benchmark, --training and --info must be given");
  if (options.counts && !options.benchmark) fail(EXIT_USAGE, "--counts is for a benchmark");
  return options;
}
