// Recorded counters, replayed to what computes steal, throttling, verdict and the answer of the steal rule. A trace is
// a file of testdata/traces: what is expected, then the files of the machine before and after a trial.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <map>
#include <set>

#include "agent/exec/meter.h"
#include "agent/exec/repeat_rule.h"
#include "agent/exec/verdict.h"
#include "agent/facts/cpu_text.h"
#include "agent/facts/test_tree.h"

namespace benchctl {
namespace {

const std::string kTraces = std::string(BENCHCTL_SOURCE_DIR) + "/agent/exec/testdata/traces";

struct Trace {
  std::map<std::string, std::string> expected;
  std::map<std::string, std::string> before, after;  // path -> content
};

Trace read_trace(const std::string& name) {
  Trace trace;
  auto text = read_file(kTraces + "/" + name);
  EXPECT_TRUE(text.ok()) << name;
  if (!text) return trace;
  std::string when, path;
  for (std::string_view line : split(*text, '\n')) {
    if (line.starts_with("--- ")) {
      auto words = split(line.substr(4), ' ');
      when = words[0];
      path = words[1];
      EXPECT_TRUE(when == "before" || when == "after" || when == "both") << name << ": " << line;
    } else if (when.empty() && !line.starts_with('#') && !line.empty()) {
      size_t colon = line.find(": ");
      trace.expected[std::string(line.substr(0, colon))] = line.substr(colon + 2);
    } else if (!when.empty() && !line.empty()) {
      if (when != "after") trace.before[path] += std::string(line) + "\n";
      if (when != "before") trace.after[path] += std::string(line) + "\n";
    }
  }
  return trace;
}

std::string shown(std::optional<double> value) {
  if (!value) return "none";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", *value);
  return text;
}

// The trial's record as the runner would write it, in the words of a trace's head.
std::map<std::string, std::string> replay(const Trace& trace) {
  TestTree tree;
  for (const auto& [path, content] : trace.before) tree.write(path, content);
  CgroupHost cgroups = CgroupHost::detect(tree.root());
  EXPECT_TRUE(cgroups.places().empty()) << "files are no control groups";
  auto cpus = parse_cpu_list(trace.expected.at("cpus"));
  EXPECT_TRUE(cpus);
  Meter meter(*cpus, cgroups, tree.root());
  meter.start();
  for (const auto& [path, content] : trace.after) tree.write(path, content);
  PhaseOutcome outcome;
  outcome.reaped = true;
  outcome.wait_status = W_EXITCODE(0, 0);
  outcome.measured = meter.stop(*parse_int(trace.expected.at("wall_ms")) * 1'000'000);

  const StealReading& steal = outcome.measured.steal;
  TrialRecord record;
  record.steal_percent = steal.percent;
  record.steal_jiffies = steal.steal_jiffies;
  auto limit = trace.expected.find("limit");
  double limit_percent = limit == trace.expected.end() ? 5 : *parse_double(limit->second);
  return {{"percent", shown(steal.percent)},
          {"total", std::to_string(steal.total_jiffies)},
          {"steal", std::to_string(steal.steal_jiffies)},
          {"counted", steal.counted ? "yes" : "no"},
          {"note", steal.note},
          {"psi_cpu", shown(outcome.measured.psi_cpu_some)},
          {"throttled", std::to_string(outcome.measured.throttled)},
          {"repeat", lost_too_much(record, limit_percent) ? "yes" : "no"},
          {"verdict", judge(outcome, {}).verdict}};
}

std::vector<std::string> trace_names() {
  auto names = list_dir(kTraces);
  return names ? *names : std::vector<std::string>{};
}

class TraceTest : public testing::TestWithParam<std::string> {};

TEST_P(TraceTest, GivesWhatItsHeadExpects) {
  Trace trace = read_trace(GetParam());
  for (const char* key : {"cpus", "wall_ms", "percent", "total", "steal", "repeat", "verdict"})
    ASSERT_EQ(trace.expected.count(key), 1u) << "the head lacks " << key;
  ASSERT_FALSE(trace.before["/proc/stat"].empty());
  auto found = replay(trace);
  const std::set<std::string> inputs = {"cpus", "wall_ms", "limit"};
  for (const auto& [key, value] : trace.expected) {
    if (inputs.count(key) != 0) continue;
    ASSERT_EQ(found.count(key), 1u) << "no such expectation: " << key;
    std::string wanted = key == "percent" || key == "psi_cpu" ? shown(parse_double(value)) : value;
    EXPECT_EQ(found[key], wanted) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TraceTest, testing::ValuesIn(trace_names()),
                         [](const auto& one) { return one.param.substr(0, one.param.find('.')); });

TEST(Traces, AllTracesAreThere) {
  EXPECT_GE(trace_names().size(), 20u);
}

}  // namespace
}  // namespace benchctl
