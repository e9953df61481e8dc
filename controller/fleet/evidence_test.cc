#include "controller/fleet/evidence.h"

#include <gtest/gtest.h>

#include "controller/plan/plan_fixture.h"

namespace benchctl {
namespace {

// A trace of another shape is another trace: two suites of one workload say each its own shape.
TEST(Evidence, TheTraceOfASuiteHasTheSuitesShape) {
  RunInput input;
  input.workloads = fixture::workloads();
  input.workloads[0].trace = {"--trace", "--statement-cache", "{statement_cache}"};
  for (const char* cache : {"fits", "none"}) {
    Suite suite;
    suite.name = cache;
    suite.workload = "request_shape";
    suite.mode = "sequential";
    suite.arms = {"c_sqlite", "rust_rusqlite"};
    suite.baseline = "c_sqlite";
    suite.format = "sequential";
    suite.params = {{"items", {"1000"}}, {"statement_cache", {cache}}};
    input.plan.suites.push_back(suite);
  }
  auto expansion = expand(input.plan, input.workloads, MachineShape{});
  ASSERT_TRUE(expansion.ok()) << expansion.error().message;
  auto rounds = evidence_rounds(*expansion, input, 1000);
  ASSERT_EQ(rounds.size(), 1u);
  ASSERT_EQ(rounds[0].trials.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const TrialSpec& trial = rounds[0].trials[i];
    EXPECT_EQ(trial.trial, static_cast<int64_t>(1000 + i));
    EXPECT_EQ(trial.format, "trace");
    ASSERT_EQ(trial.phases.size(), 1u);
    EXPECT_EQ(trial.phases[0].argv, (std::vector<std::string>{"bin/" + trial.arm, "--trace", "--statement-cache",
                                                              i < 2 ? "fits" : "none"}));
  }
}

}  // namespace
}  // namespace benchctl
