#include "tests/workloads/gates.h"

#include <algorithm>
#include <bit>
#include <random>

#include "tests/workloads/lock_holder.h"

namespace benchctl::testing_workloads {
namespace {

const std::string kSql = BENCHCTL_SOURCE_DIR "/workloads/request_shape/sql/";

std::string said(const CommandResult& ended) {
  return "exit " + std::to_string(ended.exit_code) + ended.signal + ": " + ended.errors;
}

// Case without its first part -> check.
std::map<std::string, std::string> checks(const CommandResult& ended) {
  std::map<std::string, std::string> found;
  for (const auto& row : cells_of(ended.output))
    if (row.size() == 5 && row[0] != "case") found[row[0].substr(row[0].find('/') + 1)] = row[4];
  return found;
}

// The largest value of the bucket, as the contract says: all but the highest nine bits set.
int64_t bound(int64_t ns) {
  const int bits = std::bit_width(static_cast<uint64_t>(ns));
  return bits <= 9 ? ns : ns | ((int64_t{1} << (bits - 9)) - 1);
}

std::string us(int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000), static_cast<long long>(ns % 1000));
  return text;
}

std::string expected_histogram(std::vector<int64_t> ns) {
  std::sort(ns.begin(), ns.end());
  auto percentile = [&](size_t percent) {
    return us(std::min(bound(ns[(ns.size() * percent + 99) / 100 - 1]), ns.back()));
  };
  std::string text = "p50_us,p95_us,p99_us,max_us\n" + percentile(50) + "," + percentile(95) + "," + percentile(99) +
                     "," + us(ns.back()) + "\nbucket_us,count\n";
  std::map<int64_t, int> counts;
  for (int64_t one : ns) ++counts[bound(one)];
  for (const auto& [bucket, count] : counts) text += us(bucket) + "," + std::to_string(count) + "\n";
  return text;
}

// The row of a concurrent run beside a holder of the write lock.
std::vector<std::string> blocked_row(const Words& command, const Words& words, LockFrom from, double hold_s,
                                     std::string& fault) {
  TempDir folder, out;
  CommandResult ended = run_beside_holder(command, words, from, hold_s, folder.path(), out.path());
  auto rows = ended.ok() ? cells_of(ended.output) : std::vector<std::vector<std::string>>{};
  if (rows.size() == 2 && rows[1].size() == 10) return rows[1];
  fault = said(ended);
  return {};
}

}  // namespace

std::string trace_fault(const Words& command) {
  const Words changed = {"--rows",   "2", "--extra-tables",  "3",           "--extra-indexes",   "2",   "--reads", "30",
                         "--writes", "2", "--parent-lookup", "application", "--statement-cache", "none"};
  for (const auto& [file, words] : {std::pair(kSql + "trace.expected", Words{"--trace"}),
                                    std::pair(kSql + "trace_changed.expected", Words{"--trace"} + changed)}) {
    TempDir folder;
    auto expected = read_file(file);
    CommandResult ended = run_in(folder.path(), command + words);
    if (!ended.ok()) return said(ended);
    if (!expected || ended.output != *expected) return "its trace is not " + file + ":\n" + ended.output;
  }
  return "";
}

std::string checks_fault(const Words& command, const std::string& items) {
  static std::map<std::string, std::map<std::string, std::string>> references;
  const Words words = {"--mode", "sequential", "--items", items};
  TempDir folder;
  auto& reference = references[items];
  if (reference.empty()) reference = checks(run_in(folder.path(), testing_workloads::command("c_sqlite") + words));
  if (reference.size() != 3) return "c_sqlite has no three checks";
  CommandResult ended = run_in(folder.path(), command + words);
  if (!ended.ok()) return said(ended);
  const auto own = checks(ended);
  if (own == reference) return "";
  std::string fault = "checks of " + items + " items differ from those of c_sqlite:";
  for (const auto& [name, check] : own) fault += " " + name + "=" + check;
  return fault;
}

std::map<std::string, Uses> statement_counts(const std::string& errors) {
  std::map<std::string, Uses> counts;
  for (std::string_view line : split(errors, '\n')) {
    auto words = split(line, ' ');
    if (words.size() != 3 || !words[1].starts_with("prepared=") || !words[2].starts_with("runs=")) continue;
    counts[std::string(words[0])] = {parse_int(words[1].substr(9)).value_or(-1),
                                     parse_int(words[2].substr(5)).value_or(-1)};
  }
  return counts;
}

std::string prepares_fault(const Words& command, const std::vector<std::string>& planned_anew) {
  // 22 statements of the edit, begin, update and commit.
  constexpr size_t kStatements = 25;
  TempDir folder;
  auto counts_of = [&](const Words& words) {
    return statement_counts(run_in(folder.path(), command + words + Words{"--statement-counts"}).errors);
  };
  const Words sequential = {"--mode", "sequential", "--items", "50"};
  const std::map<std::string, int64_t> runs = {
      {"staff_by_id", 100}, {"count_fields", 100},   {"fee_by_id", 100}, {"item_revision", 50},   {"update_item", 50},
      {"count_tags", 100},  {"begin_immediate", 50}, {"commit", 50},     {"sum_parent_chain", 50}};
  // An arm with two connections prepares what both requests use on each.
  const bool two = std::find(command.begin(), command.end(), "--query-only") != command.end();
  const std::map<std::string, int64_t> shared = {{"staff_by_id", 2},          {"org_by_slug", 2},
                                                 {"item_by_org_and_id", 2},   {"count_addons", 2},
                                                 {"count_discount_items", 2}, {"count_tags", 2}};
  auto is_right = [&](const std::string& name, const Uses& uses, int64_t prepared) {
    const bool anew = std::find(planned_anew.begin(), planned_anew.end(), name) != planned_anew.end();
    return uses.prepared >= prepared && uses.prepared <= (anew ? 3 * prepared + uses.runs / 10 : prepared);
  };
  for (bool kept : {true, false}) {
    auto counts = counts_of(kept ? sequential : sequential + Words{"--statement-cache", "none"});
    if (counts.size() != kStatements) return std::to_string(counts.size()) + " statements were counted";
    for (const auto& [name, expected] : runs)
      if (counts[name].runs != expected) return name + " ran " + std::to_string(counts[name].runs) + " times";
    for (const auto& [name, uses] : counts) {
      const int64_t prepared = !kept ? uses.runs : two && shared.count(name) ? 2 : 1;
      if (!is_right(name, uses, prepared)) return name + " was prepared " + std::to_string(uses.prepared) + " times";
    }
  }
  if (two) return "";
  for (const auto& [name, uses] : counts_of(
           {"--mode", "concurrent", "--workload", "mixed", "--workers", "3", "--duration", "0.3", "--warmup", "0"}))
    if (!is_right(name, uses, 3) || uses.runs < 3)
      return name + " was prepared " + std::to_string(uses.prepared) + " times on three connections";
  return "";
}

std::string busy_timeout_fault(const Words& command) {
  TempDir folder;
  const Words refused = {"strace",
                         "-f",
                         "-qq",
                         "-o",
                         "calls",
                         "-P",
                         folder.path() + "/x.db",
                         "-e",
                         "trace=fcntl",
                         "-e",
                         "inject=fcntl:error=EAGAIN:when=1..3"};
  CommandResult ended =
      run_in(folder.path(), refused + command + Words{"--mode", "sequential", "--items", "1", "--db", "x.db"});
  auto calls = read_file(folder.path() + "/calls");
  if (!calls || calls->find("(INJECTED)") == std::string::npos) return "no lock was refused: " + said(ended);
  return ended.ok() ? "" : "it did not try a lock again: " + said(ended);
}

std::string window_fault(const Words& command, const std::string& name) {
  const Words words = {"--mode", "concurrent", "--workload", "write", "--workers", "4"};
  std::string fault;
  // Locked from the warm-up until the end: what starts in the warm-up fails after the window, and what starts after it
  // belongs to the load that stays on.
  auto none = blocked_row(command, words + Words{"--warmup", "1.5", "--duration", "0.3", "--busy-timeout-ms", "3000"},
                          LockFrom::kSeeded, 0, fault);
  if (!fault.empty()) return fault;
  if (none[3] != "0" || none[9] != "0")
    return name + " counted " + none[3] + " requests where none started inside the window";
  // Locked from inside the window until after it: what waits started inside.
  auto all = blocked_row(command, words + Words{"--warmup", "0", "--duration", "1.5"}, LockFrom::kUpdated, 3, fault);
  if (!fault.empty()) return fault;
  if (parse_double(all[8]).value_or(0) < 300'000)
    return name + " did not count the requests that started inside the window and ended after it";
  return "";
}

std::string histogram_fault(const Words& command) {
  std::mt19937_64 random(7);
  std::vector<int64_t> all;
  std::string together, apart;
  // Three workers with other latencies each, one of them idle; bounds of buckets and their neighbours among them.
  const std::vector<std::pair<int64_t, int>> workers = {{60'000, 3000}, {900, 500}, {1, 0}, {40'000'000, 37}};
  for (const auto& [scale, count] : workers) {
    for (int i = 0; i < count; ++i) {
      all.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(scale)) + (i < 600 ? i : scale / 2));
      together += std::to_string(all.back()) + "\n";
      apart += std::to_string(all.back()) + "\n";
    }
    apart += "\n";
  }
  TempDir folder;
  const std::string expected = expected_histogram(all);
  for (const std::string& input : {together, apart}) {
    CommandResult ended = run_in(folder.path(), command + Words{"--histogram"}, {}, input);
    if (!ended.ok()) return said(ended);
    if (ended.output != expected)
      return "the histogram of the same latencies is another: " + ended.output.substr(0, 200);
  }
  CommandResult empty = run_in(folder.path(), command + Words{"--histogram"});
  if (empty.output != "p50_us,p95_us,p99_us,max_us\n0.000,0.000,0.000,0.000\nbucket_us,count\n")
    return "of nothing: " + empty.output;
  CommandResult wrong = run_in(folder.path(), command + Words{"--histogram"}, {}, "12\n-3\n");
  if (wrong.exit_code != 1 || wrong.errors.find("--histogram: line 2 of standard input is not") == std::string::npos)
    return "of a wrong line: " + said(wrong);
  return "";
}

}  // namespace benchctl::testing_workloads
