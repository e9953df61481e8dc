// A helper holds the write lock: what the tail, the errors and single_writer show of it.
#include "tests/workloads/lock_holder.h"

namespace benchctl::testing_workloads {
namespace {

struct Blocked {
  int64_t requests = 0, errors = 0;
  double max_us = 0;
  std::string waits;  // the histogram of those that failed
};

// The lock is held for 400 ms while updates are on their way: on a busy computer a request may begin well after the
// lock.
Blocked blocked(const Words& command, const std::string& arm, const std::string& load,
                const std::string& busy_timeout_ms) {
  TempDir folder, out;
  const Words words = {"--mode",     "concurrent", "--workload", load, "--workers",         "2",
                       "--duration", "2",          "--warmup",   "0",  "--busy-timeout-ms", busy_timeout_ms};
  CommandResult ended = run_beside_holder(command, words, LockFrom::kUpdated, 0.4, folder.path(), out.path());
  EXPECT_TRUE(ended.ok()) << arm << " " << load << ": " << ended.exit_code << " " << ended.errors;
  auto rows = ended.ok() ? cells_of(ended.output) : std::vector<std::vector<std::string>>{};
  if (rows.size() != 2 || rows[1].size() != 10) return {};
  auto waits = read_file(out.path() + "/" + arm + "_app_request_" + load + ".errors.hist.csv");
  return {parse_int(rows[1][3]).value_or(-1), parse_int(rows[1][9]).value_or(-1), parse_double(rows[1][8]).value_or(-1),
          waits ? *waits : ""};
}

TEST(Holding, WritesWaitAndTheTailShowsIt) {
  at_once(runners(), [](const std::string& arm) {
    Blocked run = blocked(command(arm), arm, "write", "5000");
    EXPECT_GE(run.max_us, 300'000) << arm;
    EXPECT_EQ(run.errors, 0) << arm;
    EXPECT_EQ(run.waits, "") << arm;
  });
}

TEST(Holding, WritesFailAndAreCountedOnceTheBusyTimeoutIsShorter) {
  at_once(runners(), [](const std::string& arm) {
    Blocked run = blocked(command(arm), arm, "write", "50");
    EXPECT_GE(run.errors, 1) << arm;
    EXPECT_LE(run.errors, 2 * (2000 / 50 + 1)) << arm;
    // Each failed after the whole busy timeout (SQLite sleeps in whole milliseconds), and is in no other file.
    int64_t failed = 0;
    for (const auto& row : cells_of(run.waits)) {
      if (row.at(0) == "bucket_us") continue;
      EXPECT_GE(parse_double(row[0]).value_or(0), 45'000) << arm << ": a wait shorter than the busy timeout";
      failed += parse_int(row.at(1)).value_or(0);
    }
    EXPECT_EQ(failed, run.errors) << arm;
  });
}

// All writes go through one connection, which waits as long as it takes: the queued ones wait with it, once, and none
// comes back as busy, however short the busy timeout of the others would be.
std::string single_writer_fault(const Words& command, const std::string& arm) {
  Blocked run = blocked(command, arm, "single_writer", "50");
  if (run.errors != 0) return arm + " has " + std::to_string(run.errors) + " errors";
  if (!run.waits.empty()) return arm + " has a histogram of errors: " + run.waits;
  return run.max_us >= 300'000 ? "" : arm + " waited for at most " + std::to_string(run.max_us) + " us";
}

TEST(Holding, ASingleWriterWaitsOnceForAll) {
  at_once(runners(), [](const std::string& arm) { EXPECT_EQ(single_writer_fault(command(arm), arm), ""); });
}

// Without anybody else: connections that do not wait disturb each other, one connection has nobody to be disturbed by.
std::string lone_writer_fault(const Words& command, const std::string& arm) {
  TempDir folder;
  const Words words = {"--mode",   "concurrent", "--workers",         "4", "--duration", "0.3",
                       "--warmup", "0",          "--busy-timeout-ms", "0", "--workload"};
  auto errors = [&](const std::string& load) {
    auto rows = cells_of(run_in(folder.path(), command + words + Words{load}).output);
    return rows.size() == 2 ? parse_int(rows[1].at(9)).value_or(-1) : -1;
  };
  if (errors("write") <= 0) return arm + " has no errors where writers disturb each other";
  const int64_t alone = errors("single_writer");
  return alone == 0 ? "" : arm + "'s single writer has " + std::to_string(alone) + " errors";
}

TEST(Holding, ASingleWriterNeedsNoBusyTimeout) {
  for (const std::string& arm : runners()) EXPECT_EQ(lone_writer_fault(command(arm), arm), "");
}

TEST(Holding, Mutants) {
  auto c = [](const Mutant& mutant) {
    auto built = build_command("c_sqlite", mutant.context);
    if (!built) ADD_FAILURE() << built.error().message;
    return built ? *built : Words{"false"};
  };
  // A tail that is cut.
  Mutant late("c/concurrent.c", "    if (start < run->begin_ns || start >= run->end_ns) continue;\n",
              "    if (start < run->begin_ns || start >= run->end_ns) continue;\n    took %= 250000000;\n");
  const Words cut = c(late);
  EXPECT_LT(blocked(cut, "c_sqlite", "write", "5000").max_us, 300'000);
  EXPECT_NE(single_writer_fault(cut, "c_sqlite").find(" waited for at most "), std::string::npos);
  // Busy writes that nobody counts.
  Mutant uncounted("c/concurrent.c", "histogram_record(busy ? &worker->busy_waits : &worker->latencies, took);",
                   "if (!busy) histogram_record(&worker->latencies, took);");
  EXPECT_EQ(blocked(c(uncounted), "c_sqlite", "write", "50").errors, 0);
  // A single writer that waits no longer than the others would.
  Mutant hasty("c/concurrent.c", "  patient.busy_timeout_ms = WRITER_PATIENCE_MS;\n", "");
  EXPECT_NE(single_writer_fault(c(hasty), "c_sqlite").find(" errors"), std::string::npos);
  // Each worker writes by itself, whatever it is called.
  Mutant many("c/concurrent.c", "own_connection = load != LOAD_SINGLE_WRITER,", "own_connection = true,");
  many.change("c/concurrent.c", "if (load == LOAD_SINGLE_WRITER) {\n    worker->job.i",
              "if (i < 0) {\n    worker->job.i");
  const Words each = c(many);
  EXPECT_NE(single_writer_fault(each, "c_sqlite").find(" errors"), std::string::npos);
  EXPECT_NE(lone_writer_fault(each, "c_sqlite").find("'s single writer has "), std::string::npos);
}

}  // namespace
}  // namespace benchctl::testing_workloads
