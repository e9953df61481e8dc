#include <algorithm>
#include <cmath>

#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

struct Point {
  std::vector<std::string> row;
  std::vector<std::pair<double, int64_t>> latencies, busy_waits;  // bucket_us, count
};

std::vector<std::pair<double, int64_t>> read_histogram(const std::string& path) {
  std::vector<std::pair<double, int64_t>> buckets;
  auto text = read_file(path);
  if (!text) return buckets;
  auto rows = cells_of(*text);
  EXPECT_EQ(rows.at(0), (std::vector<std::string>{"bucket_us", "count"}));
  for (size_t i = 1; i < rows.size(); ++i) {
    auto bound = parse_double(rows[i].at(0));
    auto count = parse_int(rows[i].at(1));
    if (!bound || !count) {
      ADD_FAILURE() << path << ":" << i + 1;
      break;
    }
    buckets.emplace_back(*bound, *count);
  }
  return buckets;
}

int64_t total(const std::vector<std::pair<double, int64_t>>& buckets) {
  int64_t sum = 0;
  for (const auto& [bound, count] : buckets) sum += count;
  return sum;
}

Point run_concurrent(const std::string& arm, const std::string& load, const std::string& workers,
                     const Words& more = {}) {
  TempDir folder, out;
  const Words words = {"--mode", "concurrent", "--workload", load,       "--workers",
                       workers,  "--duration", "0.5",        "--warmup", "0.1"};
  CommandResult ended = run_in(folder.path(), command(arm) + words + more, {"BENCHCTL_OUT=" + out.path()});
  EXPECT_TRUE(ended.ok()) << arm << ": " << ended.errors;
  auto rows = cells_of(ended.output);
  EXPECT_EQ(rows.size(), 2u);
  if (rows.size() != 2) return {};
  EXPECT_EQ(join(rows[0], ","), "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us,errors");
  EXPECT_EQ(rows[1].size(), 10u);
  rows[1].resize(10);
  const std::string base = out.path() + "/" + arm + "_app_request_" + load;
  return {rows[1], read_histogram(base + ".hist.csv"), read_histogram(base + ".errors.hist.csv")};
}

TEST(Concurrent, CountsWhatStartsInTheWindow) {
  for (const std::string& arm : runners())
    for (const char* load : {"read", "write", "mixed", "single_writer", "open_read"}) {
      Point run = run_concurrent(arm, load, "4");
      ASSERT_FALSE(run.row.empty());
      EXPECT_EQ(run.row[0], arm + "/app_request/" + load);
      EXPECT_EQ(run.row[1], "4");
      EXPECT_EQ(run.row[2], "0.500");
      auto requests = parse_int(run.row[3]);
      ASSERT_TRUE(requests && *requests > 0) << join(run.row, ",");
      EXPECT_EQ(total(run.latencies), *requests) << arm << " " << load;
      EXPECT_NEAR(*parse_double(run.row[4]), static_cast<double>(*requests) / 0.5, 0.001);
      EXPECT_EQ(run.row[9], "0");
      EXPECT_TRUE(run.busy_waits.empty());

      // Percentiles are those of the histogram; its bounds rise by at least a nanosecond and are those of every runner.
      double p50 = *parse_double(run.row[5]), p95 = *parse_double(run.row[6]), p99 = *parse_double(run.row[7]),
             max = *parse_double(run.row[8]);
      EXPECT_LE(p50, p95);
      EXPECT_LE(p95, p99);
      EXPECT_LE(p99, max);
      int64_t seen = 0;
      double median = -1, last = -1;
      for (const auto& [bound, count] : run.latencies) {
        EXPECT_GT(bound, last);
        EXPECT_GT(count, 0);
        last = bound;
        seen += count;
        if (median < 0 && 2 * seen >= *requests) median = bound;
        // The bound is the largest value inside: its lowest bits are all set.
        int64_t ns = std::llround(bound * 1000), width = int64_t{1} << std::max(0, std::ilogb(bound * 1000) - 8);
        EXPECT_EQ((ns + 1) % width, 0) << bound;
      }
      EXPECT_DOUBLE_EQ(std::min(median, max), p50);
      EXPECT_LE(max, last);
      EXPECT_GE(max, last * (1 - 1.0 / 256) - 0.001);
    }
}

TEST(Concurrent, WritesReachTheDatabase) {
  // Evidence that a concurrent run writes: the file grows a write-ahead log while it runs, and it is gone afterwards.
  for (const std::string& arm : runners()) {
    TempDir folder;
    const Words traced = {"strace", "-f", "-qq", "-c", "-e", "trace=pwrite64", "-o", "calls"};
    CommandResult ended = run_in(folder.path(), traced + command(arm) +
                                                    Words{"--mode", "concurrent", "--workload", "write", "--workers",
                                                          "2", "--duration", "0.2", "--warmup", "0"});
    ASSERT_TRUE(ended.ok()) << ended.errors;
    auto rows = cells_of(ended.output);
    ASSERT_EQ(rows.size(), 2u);
    auto calls = read_file(folder.path() + "/calls");
    ASSERT_TRUE(calls.ok());
    int64_t writes = 0;
    for (std::string_view line : split(*calls, '\n'))
      if (line.find("pwrite64") != std::string_view::npos) {
        std::vector<std::string> words;
        for (std::string_view word : split(line, ' '))
          if (!word.empty()) words.emplace_back(word);
        writes = parse_int(words.at(3)).value_or(0);
      }
    // A frame's header and its page at least, for each request.
    EXPECT_GE(writes, 2 * *parse_int(rows[1].at(3))) << *calls;
  }
}

}  // namespace
}  // namespace benchctl::testing_workloads
