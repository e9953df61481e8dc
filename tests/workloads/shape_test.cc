// Other shapes: every runner does the same in them, each parameter changes what it says, and none is compared with
// another.
#include <set>

#include "controller/plan/plan_reader.h"
#include "controller/plan/points.h"
#include "tests/workloads/gates.h"

namespace benchctl::testing_workloads {
namespace {

// Case without its first part -> items and check.
std::map<std::string, std::string> rows_of(const std::string& arm, const Words& shape, const std::string& items) {
  std::map<std::string, std::string> rows;
  for (const auto& row : cells_of(output_of(arm, Words{"--mode", "sequential", "--items", items} + shape)))
    if (row.size() == 5 && row[0] != "case") rows[row[0].substr(row[0].find('/') + 1)] = row[1] + " " + row[4];
  return rows;
}

const std::string kSeed = "app_request/seed_dummy_data", kEdit = "app_request/admin_item_edit",
                  kUpdate = "app_request/admin_item_update";

TEST(Shape, ChecksAreEqualInAnyShape) {
  const std::vector<Words> shapes = {{"--rows", "3", "--extra-tables", "12", "--extra-indexes", "3", "--reads", "60",
                                      "--writes", "5", "--parent-lookup", "application", "--statement-cache", "none"},
                                     {"--reads", "1", "--statement-cache", "default"}};
  for (const Words& shape : shapes) {
    // More requests than items, so that they come round.
    const auto reference = rows_of("c_sqlite", shape, "310");
    ASSERT_EQ(reference.size(), 3u);
    for (const std::string& arm : sequential_runners()) EXPECT_EQ(rows_of(arm, shape, "310"), reference) << arm;
  }
}

TEST(Shape, EachParameterShowsInTheChecksUnlessItChangesNoValue) {
  const auto usual = rows_of("c_sqlite", {}, "110");
  EXPECT_TRUE(usual.at(kSeed).starts_with("899 "));
  auto changed = [&](const Words& shape) {
    std::set<std::string> cases;
    for (const auto& [name, row] : rows_of("c_sqlite", shape, "110"))
      if (row != usual.at(name)) cases.insert(name);
    return cases;
  };
  using Cases = std::set<std::string>;
  EXPECT_EQ(changed({"--rows", "2"}), (Cases{kSeed, kEdit, kUpdate}));
  EXPECT_TRUE(rows_of("c_sqlite", {"--rows", "2"}, "1").at(kSeed).starts_with("1749 "));
  EXPECT_EQ(changed({"--extra-tables", "1"}), (Cases{kSeed}));
  EXPECT_EQ(changed({"--extra-indexes", "1"}), (Cases{kSeed}));
  EXPECT_EQ(changed({"--reads", "27"}), (Cases{kEdit}));
  EXPECT_EQ(changed({"--reads", "24"}), (Cases{kEdit}));
  EXPECT_EQ(changed({"--writes", "2"}), (Cases{kUpdate}));
  EXPECT_EQ(changed({"--parent-lookup", "application"}), (Cases{kEdit}));
  EXPECT_EQ(changed({"--statement-cache", "none"}), Cases{});
  EXPECT_EQ(changed({"--statement-cache", "default"}), Cases{});
}

TEST(Shape, EachParameterIsInTheTrace) {
  const std::string usual = output_of("c_sqlite", {"--trace"});
  std::set<std::string> traces = {usual};
  const std::vector<Words> shapes = {{"--rows", "2"},
                                     {"--extra-tables", "1"},
                                     {"--reads", "27"},
                                     {"--extra-indexes", "1"},
                                     {"--writes", "2"},
                                     {"--parent-lookup", "application"},
                                     {"--statement-cache", "none"},
                                     {"--statement-cache", "default"}};
  for (const Words& shape : shapes) {
    const std::string trace = output_of("c_sqlite", Words{"--trace"} + shape);
    EXPECT_TRUE(trace.starts_with("shape\trows=")) << shape[0];
    EXPECT_TRUE(traces.insert(trace).second) << shape[0];
    for (const std::string& arm : sequential_runners())
      EXPECT_EQ(output_of(arm, Words{"--trace"} + shape), trace) << arm << " " << shape[0];
  }
  EXPECT_EQ(output_of("c_sqlite", {"--trace", "--rows", "1", "--reads", "26", "--statement-cache", "fits"}), usual);
}

// History and comparisons go by the definition's hash, and the trace of a suite is asked for in the suite's shape.
TEST(Shape, EachParameterIsInTheDefinition) {
  auto workload = load_workload(BENCHCTL_SOURCE_DIR "/workloads/request_shape");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  for (const char* mode : {"sequential", "concurrent"}) {
    auto definition = [&](const std::string& params) -> std::string {
      const std::string text =
          "schema = 1\nname = \"p\"\n[fleet.here]\nprovider = \"local\"\n[[suite]]\nworkload = \"request_shape\"\nmode "
          "= \"" +
          std::string(mode) + "\"\narms = [\"c_sqlite\"]\nbaseline = \"c_sqlite\"\n[suite.params]\n" + params + "\n";
      auto plan = read_plan({"p.toml", text, "", MachineShape{2, "x86_64", 0, 1}}, {*workload}, {});
      if (!plan) ADD_FAILURE() << plan.error().message;
      return plan ? points_of(*plan, {*workload}, 2).front().definition_hash : "";
    };
    std::set<std::string> all = {definition("")};
    for (const char* params : {"rows = 2", "extra_tables = 1", "extra_indexes = 1", "reads = 27", "writes = 2",
                               "parent_lookup = \"application\"", "statement_cache = \"none\""})
      EXPECT_TRUE(all.insert(definition(params)).second) << params;
    EXPECT_EQ(definition("rows = 1\nreads = 26\nstatement_cache = \"fits\""), definition(""));
    for (const char* name :
         {"rows", "extra_tables", "extra_indexes", "reads", "writes", "parent_lookup", "statement_cache"})
      EXPECT_NE(join(workload->trace, " ").find("{" + std::string(name) + "}"), std::string::npos) << name;
  }
}

// Pages written, not time: each index is one more page of an update's commit.
TEST(Shape, ExtraIndexesMakeAnUpdateDearer) {
  for (const std::string& arm : runners()) {
    auto pages = [&](const char* indexes) {
      TempDir folder;
      const Words traced = {"strace", "-f", "-qq", "-e", "trace=pwrite64", "-o", "calls"};
      CommandResult ended =
          run_in(folder.path(),
                 traced + command(arm) + Words{"--mode", "sequential", "--items", "100", "--extra-indexes", indexes});
      EXPECT_TRUE(ended.ok()) << ended.errors;
      auto calls = read_file(folder.path() + "/calls");
      const std::string text = calls ? *calls : "";
      size_t count = 0;
      for (std::string_view line : split(text, '\n')) count += line.ends_with("= 4096") ? 1 : 0;
      return count;
    };
    const size_t usual = pages("0"), dearer = pages("8");
    EXPECT_GE(usual, 100u) << arm;
    EXPECT_GE(dearer, usual + 8 * 100) << arm;
  }
}

}  // namespace
}  // namespace benchctl::testing_workloads
