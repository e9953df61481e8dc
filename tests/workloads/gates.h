// What every runner must pass, as functions of its command, so that a broken one can be shown to fail. Each gives the
// first fault, or "".
#pragma once

#include <string>

#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {

// --trace in the usual and in the changed shape, byte for byte.
std::string trace_fault(const Words& command);
// The checks of `items` requests of each kind, against those of c_sqlite.
std::string checks_fault(const Words& command, const std::string& items);
// Prepares: one a connection and statement, in both modes; with nothing kept, one a use. The numbers of uses are right.
// `planned_anew`: statements that an SQLite of the driver's own prepares again by itself, now and then.
std::string prepares_fault(const Words& command, const std::vector<std::string>& planned_anew = {});
// busy_timeout comes before whatever may find the database locked: the first locks are refused, and tried again.
std::string busy_timeout_fault(const Words& command);
// A request counts when it started inside the window. `name`: of the arm.
std::string window_fault(const Words& command, const std::string& name);
// Buckets, percentiles, and that merging workers' histograms is the histogram of all their latencies.
std::string histogram_fault(const Words& command);

// "<name> prepared=<P> runs=<R>" of standard error.
struct Uses {
  int64_t prepared = 0, runs = 0;
};
std::map<std::string, Uses> statement_counts(const std::string& errors);

}  // namespace benchctl::testing_workloads
