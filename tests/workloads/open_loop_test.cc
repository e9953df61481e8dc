// open_read: requests come due at a fixed rate, whatever happened to those before.
#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

struct Row {
  int64_t requests = -1;
  int64_t slow = 0;  // of more than 100 ms
};

// A run that is stopped for half a second in the middle of its window.
Row stopped(const std::string& arm, const std::string& load) {
  TempDir folder, out;
  const std::string script =
      "\"$@\" & for n in $(seq 2000); do ls *.db-shm >/dev/null 2>&1 && break; sleep 0.01; done; "
      "sleep 1; kill -STOP $!; sleep 0.5; kill -CONT $!; wait $!";
  const Words words = {"--mode",    "concurrent", "--workload", load, "--rate",   "200",
                       "--workers", "2",          "--duration", "3",  "--warmup", "0"};
  CommandResult ended =
      run_in(folder.path(), Words{"sh", "-c", script, "sh"} + command(arm) + words, {"BENCHCTL_OUT=" + out.path()});
  EXPECT_TRUE(ended.ok()) << arm << ": " << ended.errors;
  auto rows = ended.ok() ? cells_of(ended.output) : std::vector<std::vector<std::string>>{};
  auto histogram = read_file(out.path() + "/" + arm + "_app_request_" + load + ".hist.csv");
  if (rows.size() != 2 || !histogram) return {};
  Row row{parse_int(rows[1].at(3)).value_or(-1), 0};
  for (const auto& bucket : cells_of(*histogram))
    if (bucket[0] != "bucket_us" && parse_double(bucket[0]).value_or(0) > 100'000)
      row.slow += parse_int(bucket.at(1)).value_or(0);
  return row;
}

// 100 requests came due in the half second; those of its first 0.4 s waited more than 0.1 s. A closed loop has one
// request a worker on its way, and would hide the others.
TEST(OpenLoop, AStallIsSeenByEveryRequestThatCameDueInIt) {
  at_once(runners(), [](const std::string& arm) {
    Row open = stopped(arm, "open_read");
    EXPECT_EQ(open.requests, 600) << arm;
    EXPECT_GE(open.slow, 70) << arm;
  });
  at_once(runners(), [](const std::string& arm) {
    Row closed = stopped(arm, "read");
    EXPECT_GT(closed.requests, 600) << arm;
    EXPECT_LT(closed.slow, 35) << arm;
  });
}

TEST(OpenLoop, WhatIsDueInTheWindowIsArithmetic) {
  at_once(runners(), [](const std::string& arm) {
    // Due at k/300 s: k = 60 is due as the window begins, k = 210 as it ends.
    for (const char* workers : {"1", "4"}) {
      TempDir folder;
      const Words words = {"--mode",    "concurrent", "--workload", "open_read", "--rate",   "300",
                           "--workers", workers,      "--duration", "0.5",       "--warmup", "0.2"};
      CommandResult ended = run_in(folder.path(), command(arm) + words);
      ASSERT_TRUE(ended.ok()) << ended.errors;
      auto rows = cells_of(ended.output);
      ASSERT_EQ(rows.size(), 2u);
      EXPECT_EQ(rows[1].at(0), arm + "/app_request/open_read");
      EXPECT_EQ(rows[1].at(3), "150") << arm;
      EXPECT_EQ(rows[1].at(4), "300.000") << arm;
      EXPECT_EQ(rows[1].at(9), "0");
    }
  });
}

}  // namespace
}  // namespace benchctl::testing_workloads
