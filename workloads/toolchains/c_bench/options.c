#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static int64_t parse_number(const struct option_spec* spec, const char* text) {
  int64_t value = 0;
  size_t digits = strspn(text, "0123456789");
  bool whole = digits > 0 && digits <= 15 && !text[digits];
  for (const char* c = text; whole && *c; c++) value = value * 10 + (*c - '0');
  if (!whole || value < spec->min || value > spec->max)
    usage("%s: '%.40s' is not a whole number from %lld to %lld", spec->name, text, (long long)spec->min,
          (long long)spec->max);
  return value;
}

static int parse_choice(const struct option_spec* spec, const char* text) {
  char known[1024] = "";
  for (int i = 0; spec->choices[i]; i++) {
    if (strcmp(text, spec->choices[i]) == 0) return i;
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", spec->choices[i]);
  }
  usage("%s: '%.40s' is none of %s", spec->name, text, known);
}

static void print_help(const struct option_spec* specs, const char* help) {
  fputs(help, stdout);
  for (const struct option_spec* spec = specs; spec->name; spec++) printf("  %-20s %s\n", spec->name, spec->help);
  printf("  %-20s %s\n", "--info", "versions, compiler and flags as JSON");
}

void parse_options(int argc, char** argv, struct option_spec* specs, const char* help, void (*print_info)(void)) {
  bool info = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      print_help(specs, help);
      finish_output();
      exit(0);
    }
    if (strcmp(argv[i], "--info") == 0) {
      info = true;
      continue;
    }
    struct option_spec* spec = specs;
    while (spec->name && strcmp(argv[i], spec->name) != 0) spec++;
    if (!spec->name) usage("unknown argument '%.40s'", argv[i]);
    const char* value = argv[++i];
    if (!value || !*value) usage("%s needs a value", spec->name);
    if (spec->given) usage("%s is given twice", spec->name);
    spec->given = true;
    if (spec->number)
      *spec->number = parse_number(spec, value);
    else
      *spec->choice = parse_choice(spec, value);
  }
  if (!info) return;
  print_info();
  finish_output();
  exit(0);
}
