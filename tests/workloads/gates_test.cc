// Equality and fairness: each gate over all runners, and seen failing with a runner that is broken on purpose.
#include "tests/workloads/gates.h"

#include <memory>
#include <thread>

namespace benchctl::testing_workloads {
namespace {

TEST(Gates, TracesAreTheRequestScript) {
  for (const std::string& arm : sequential_runners()) EXPECT_EQ(trace_fault(command(arm)), "") << arm;
}

TEST(Gates, ChecksAreEqual) {
  for (const char* items : {"1", "100", "10000"})
    for (const std::string& arm : sequential_runners()) EXPECT_EQ(checks_fault(command(arm), items), "") << arm;
}

TEST(Gates, EachStatementIsPreparedOnceAConnection) {
  // The SQLite of this driver (3.54, with STAT4) plans two joins anew when the item bound becomes 1 or is 1 no more.
  const std::map<std::string, Words> planned_anew = {{"go_ncruces", {"count_item_fields", "count_discount_items"}}};
  for (const std::string& arm : sequential_runners()) {
    auto known = planned_anew.find(arm);
    EXPECT_EQ(prepares_fault(command(arm), known == planned_anew.end() ? Words{} : known->second), "") << arm;
  }
}

TEST(Gates, TheBusyTimeoutComesFirst) {
  for (const std::string& arm : sequential_runners()) EXPECT_EQ(busy_timeout_fault(command(arm)), "") << arm;
}

TEST(Gates, OnlyWhatStartsInsideTheWindowCounts) {
  at_once(runners(), [](const std::string& arm) { EXPECT_EQ(window_fault(command(arm), arm), ""); });
}

TEST(Gates, MergedHistogramsAreTheHistogramOfAll) {
  for (const std::string& arm : runners()) EXPECT_EQ(histogram_fault(command(arm)), "") << arm;
}

// Repeated runs are merged by the analysis: as if one runner had seen all latencies.
TEST(Gates, TheAnalysisMergesRunsAsTheRunnersMergeWorkers) {
  std::string runs[2];
  for (int i = 0; i < 3000; ++i) runs[i % 3 == 0] += std::to_string(int64_t{997} * i * i % 5'000'011) + "\n";
  TempDir folder;
  for (const std::string& arm : runners()) {
    auto histogram = [&](const std::string& file, const std::string& latencies) {
      CommandResult ended = run_in(folder.path(), command(arm) + Words{"--histogram"}, {}, latencies);
      write_file(folder.path() + "/" + file, ended.output.substr(ended.output.find("bucket_us")));
    };
    histogram("a", runs[0]);
    histogram("b", runs[1]);
    histogram("all", runs[0] + runs[1]);
    const std::string script =
        "from benchctl_analysis import histograms as h\n"
        "a, b, whole = (h.parse(open(name, 'rb').read(), name) for name in ('a', 'b', 'all'))\n"
        "assert h.merge([a, b]) == whole and h.total(whole) == 3000 and a != b\n"
        "print(h.merge([a]) == whole)\n";
    CommandResult merged =
        run_in(folder.path(), {"python3", "-c", script}, {"PYTHONPATH=" BENCHCTL_SOURCE_DIR "/analysis"});
    EXPECT_EQ(merged.output, "False\n") << arm << merged.errors;
  }
}

class Mutants : public testing::Test {
 protected:
  // The command of a c_sqlite in which one line is another.
  Words c(const std::string& file, const std::string& line, const std::string& instead) {
    kept_.push_back(std::make_unique<Mutant>(file, line, instead));
    auto built = build_command("c_sqlite", kept_.back()->context);
    if (!built) ADD_FAILURE() << built.error().message;
    return built ? *built : Words{"false"};
  }

 private:
  std::vector<std::unique_ptr<Mutant>> kept_;
};

TEST_F(Mutants, FailTheTrace) {
  EXPECT_NE(trace_fault(c("c/request.c", "EDIT_READ(org_by_id, number(403));", "EDIT_READ(org_by_id, number(411));")),
            "");
  // The usual shape's trace is not enough: this one writes the same item twice.
  EXPECT_NE(trace_fault(c("c/request.c", "(item - 1 + k) %", "(item - 1) %")), "");
}

TEST_F(Mutants, FailTheChecks) {
  EXPECT_NE(checks_fault(c("c/request.c", "  READ(count_tags, number(org));\n  char title",
                           "  if (i < 100) READ(count_tags, number(org));\n  char title"),
                         "100"),
            "");
  EXPECT_NE(checks_fault(c("c/sequential.c", "(i - 1) % items + 1", "i % items + 1"), "1"), "");
  // Text that is cut, where nothing longer than a request's first values would show it.
  EXPECT_NE(checks_fault(c("c/database.c", "i < size; i++) hash", "i < size && i < 8; i++) hash"), "1"), "");
}

TEST_F(Mutants, FailThePrepares) {
  // Prepared at each use: in all cases, and only where BEGIN and COMMIT are concerned.
  const std::string keeps = "if (db->shape->statement_cache == CACHE_NONE)\n    finalize";
  EXPECT_NE(prepares_fault(c("c/database.c", keeps, "if (1)\n    finalize")), "");
  EXPECT_NE(prepares_fault(c("c/database.c", keeps, "if (which <= commit)\n    finalize")), "");
  // Kept although nothing may be.
  EXPECT_NE(prepares_fault(c("c/database.c", keeps, "if (0)\n    finalize")), "");
}

TEST_F(Mutants, FailTheBusyTimeout) {
  EXPECT_NE(busy_timeout_fault(c("sql/pragmas.sql", "PRAGMA busy_timeout=5000;\nPRAGMA journal_mode=WAL;\n",
                                 "PRAGMA journal_mode=WAL;\nPRAGMA busy_timeout=5000;\n")),
            "");
}

TEST_F(Mutants, FailTheWindow) {
  const std::string line = "    if (start < run->begin_ns || start >= run->end_ns) continue;";
  const std::map<std::string, Words> broken = {
      {"no begin", c("c/concurrent.c", line, "    if (start >= run->end_ns) continue;")},
      {"no end", c("c/concurrent.c", line, "    if (start < run->begin_ns) continue;")},
      {"by end",
       c("c/concurrent.c", line, "    if (start + took < run->begin_ns || start + took >= run->end_ns) continue;")}};
  std::vector<std::thread> threads;
  for (const auto& one : broken)
    threads.emplace_back([&one] { EXPECT_NE(window_fault(one.second, one.first), "") << one.first; });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Mutants, FailTheHistogram) {
  const std::string add = "into->counts[i] += other->counts[i]";
  EXPECT_NE(histogram_fault(c("c/histogram.c", add, "into->counts[i] = other->counts[i]")), "");
  EXPECT_NE(histogram_fault(c("c/histogram.c", "if (other->max_ns > into->max_ns) ", "")), "");
  EXPECT_NE(histogram_fault(c("c/histogram.c", "total * percent + 99", "total * percent")), "");
  EXPECT_NE(histogram_fault(c("c/histogram.c", "64 - 9 - __builtin", "64 - 8 - __builtin")), "");
}

}  // namespace
}  // namespace benchctl::testing_workloads
