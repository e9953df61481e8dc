/* A command line of --name VALUE pairs, from a table. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct option_spec {
  const char* name; /* "--items" */
  const char* help; /* with its default, one line */
  int64_t* number;  /* a whole number of digits only, from min to max; or, where it is NULL: */
  int* choice;      /* the place of the value in `choices`, which ends with NULL */
  const char* const* choices;
  int64_t min, max;
  bool given; /* set by parse_options() */
};

/* --help and --info print and end the program with exit code 0; a mistake is one line and exit code 2. `specs` ends
   with an entry without a name. */
void parse_options(int argc, char** argv, struct option_spec* specs, const char* help, void (*print_info)(void));

#endif
