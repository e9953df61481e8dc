#ifndef POINT_H
#define POINT_H

#include "histogram.h"
#include "options.h"

/* Prints the point's row, and writes its histograms where there is a folder for them. */
void print_point(const struct options* options, const struct histogram* latencies, const struct histogram* busy_waits);

#endif
