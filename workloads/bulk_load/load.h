#ifndef LOAD_H
#define LOAD_H

#include "bulk_load.h"

/* Makes the database, loads and closes it, compares every row, and prints the rows of cases curve/..., load, reader,
 * read/.... */
void run_load(const struct options* options);

#endif
