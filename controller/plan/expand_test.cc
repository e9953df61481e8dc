#include "controller/plan/expand.h"
#include "controller/workloads/template.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "controller/plan/estimate.h"
#include "controller/plan/plan_fixture.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

const char kPlan[] = R"(schema = 1
name = "both"
[fleet.small]
provider = "nspawn"
count = 2
[schedule]
runs = 6
warmup_rounds = 2
[[suite]]
workload = "request_shape"
mode = "sequential"
arms = ["c_sqlite", "rust_rusqlite"]
[[suite]]
workload = "request_shape"
mode = "concurrent"
arms = ["c_sqlite", "rust_rusqlite"]
params = { duration = "200ms", warmup = "0s" }
)";

Plan plan_of(const std::vector<std::string>& sets = {}) {
  auto plan = fixture::read(kPlan, sets);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return *plan;
}

Expansion expanded(const Plan& plan, MachineShape shape = {2, "x86_64", 0, 1}) {
  auto expansion = expand(plan, fixture::workloads(), shape);
  EXPECT_TRUE(expansion.ok()) << expansion.error().message;
  return *expansion;
}

// "1: seq=car workers=1=rac": one letter an arm, a is the copy of the baseline.
std::string shape_of(const RoundSpec& round) {
  std::string line = std::to_string(round.round) + ":";
  std::string last;
  for (const TrialSpec& trial : round.trials) {
    std::string point = trial.point.empty() ? "seq" : trial.point;
    if (point != last) line += " " + point + "=";
    last = point;
    line += trial.aa_copy ? "a" : trial.arm.substr(0, 1);
  }
  return line;
}

TEST(Expand, TheGoldenOrderNeverChanges) {
  std::string all;
  for (const RoundSpec& round : expanded(plan_of()).rounds) all += shape_of(round) + "\n";
  EXPECT_EQ(all, R"(-1: workers=1=car workers=4=rac workers=2=cr seq=cra
0: seq=rac workers=1=arc workers=2=rc workers=4=acr
1: workers=1=rac workers=4=arc seq=rca workers=2=rc
2: workers=2=cr workers=4=rca seq=car workers=1=acr
3: workers=1=cra workers=4=car workers=2=rc seq=arc
4: seq=acr workers=2=cr workers=4=arc workers=1=rca
5: seq=cra workers=2=rc workers=1=car workers=4=rca
6: workers=4=car workers=1=arc seq=rac workers=2=cr
)");
}

TEST(Expand, RoundsAreNumberedWarmUpsUpToZeroThenScored) {
  std::vector<int> rounds;
  std::set<int64_t> trials;
  for (const RoundSpec& round : expanded(plan_of(), {2, "x86_64", 0, 500}).rounds) {
    rounds.push_back(round.round);
    for (const TrialSpec& trial : round.trials) {
      EXPECT_EQ(trial.round, round.round);
      EXPECT_TRUE(trials.insert(trial.trial).second);
    }
  }
  EXPECT_EQ(rounds, (std::vector<int>{-1, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(*trials.begin(), 500);
  EXPECT_EQ(*trials.rbegin() - 500 + 1, static_cast<int64_t>(trials.size()));
}

TEST(Expand, CountsAreExactAndArmsOfAPointStandTogetherForManySeeds) {
  for (int seed = 0; seed < 300; ++seed)
    for (const char* order : {"latin", "abba", "fixed"}) {
      Plan plan = plan_of();
      plan.schedule.seed = static_cast<uint64_t>(seed);
      plan.schedule.order = order;
      for (const RoundSpec& round : expanded(plan, {4, "x86_64", seed % 3, 1}).rounds) {
        // sequential 3 + workers 1, 2, 4, 8: the copy at 1 and 8 only: 3 + 3 + 2 + 2 + 3.
        ASSERT_EQ(round.trials.size(), 13u);
        std::set<std::string> finished;
        std::set<std::pair<std::string, bool>> arms;
        for (size_t i = 0; i < round.trials.size(); ++i) {
          const TrialSpec& trial = round.trials[i];
          if (i > 0 && trial.point != round.trials[i - 1].point) {
            EXPECT_TRUE(finished.insert(round.trials[i - 1].point).second);
            arms.clear();
          }
          EXPECT_EQ(finished.count(trial.point), 0u) << "a point came back";
          EXPECT_EQ(trial.position, static_cast<int>(arms.size()));
          EXPECT_TRUE(arms.insert({trial.arm, trial.aa_copy}).second);
        }
      }
    }
}

TEST(Expand, TheSameSeedGivesTheSameOrderAndMachinesTheirOwn) {
  auto order = [](const Plan& plan, int machine) {
    std::string all;
    for (const RoundSpec& round : expanded(plan, {2, "x86_64", machine, 1}).rounds) all += shape_of(round) + "\n";
    return all;
  };
  EXPECT_EQ(order(plan_of(), 0), order(plan_of(), 0));
  EXPECT_NE(order(plan_of(), 0), order(plan_of(), 1));
  EXPECT_NE(order(plan_of(), 0), order(plan_of({"schedule.seed=43"}), 0));
}

TEST(Expand, TheCopyOfTheBaselineStandsWhereItShould) {
  auto copies = [](const Plan& plan) {
    std::map<std::string, int> at;
    for (const RoundSpec& round : expanded(plan, {8, "x86_64", 0, 1}).rounds)
      for (const TrialSpec& trial : round.trials)
        if (trial.aa_copy) {
          EXPECT_EQ(trial.arm, "c_sqlite");
          ++at[trial.point];
        }
    return at;
  };
  EXPECT_EQ(copies(plan_of()), (std::map<std::string, int>{{"", 8}, {"workers=1", 8}, {"workers=16", 8}}));
  EXPECT_TRUE(copies(plan_of({"schedule.aa=false"})).empty());
  EXPECT_TRUE(copies(plan_of({"suite.*.arms=[\"c_sqlite\"]"})).empty());
  EXPECT_EQ(copies(plan_of({"suite.1.params.workers=4"})), (std::map<std::string, int>{{"", 16}}));
}

TEST(Expand, AutoWorkersArePowersOfTwoThenTwiceTheCpus) {
  EXPECT_EQ(auto_workers(1), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(auto_workers(2), (std::vector<std::string>{"1", "2", "4"}));
  EXPECT_EQ(auto_workers(6), (std::vector<std::string>{"1", "2", "4", "12"}));
  EXPECT_EQ(auto_workers(8), (std::vector<std::string>{"1", "2", "4", "8", "16"}));
}

TEST(Expand, ATrialIsWholeAndCarriesItsDefinition) {
  Expansion expansion = expanded(plan_of());
  const TrialSpec* rust = nullptr;
  for (const TrialSpec& trial : expansion.rounds[0].trials)
    if (trial.arm == "rust_rusqlite" && trial.point == "workers=2") rust = &trial;
  ASSERT_NE(rust, nullptr);
  EXPECT_EQ(rust->phases.size(), 1u);
  EXPECT_EQ(rust->phases[0].name, "run");
  EXPECT_EQ(rust->phases[0].argv,
            (std::vector<std::string>{"bin/rust_rusqlite", "--workers", "2", "--duration", "0.2"}));
  EXPECT_EQ(rust->format, "concurrent");
  EXPECT_EQ(rust->suite, "request_shape.concurrent");
  EXPECT_EQ(rust->timeout_ms, 20 * 60'000);
  EXPECT_EQ(rust->bundle, "request_shape/rust");
  EXPECT_EQ(rust->definition_hash,
            sha256_hex(
                R"({"definition":1,"workload":"request_shape","version":"1","mode":"concurrent","format":"concurrent",)"
                R"("command":[],"params":{"duration":"200ms","warmup":"0s","workers":"2","workload":"mixed"}})"));
  EXPECT_TRUE(trial_spec_from_json(trial_spec_to_json(*rust)).ok());
}

TEST(Expand, DefinitionsFollowVersionAndParametersNotArmsOrNames) {
  auto hashes = [](const Plan& plan, const std::vector<Workload>& workloads) {
    std::set<std::string> all;
    for (const Point& point : points_of(plan, workloads, 2)) all.insert(point.definition_hash);
    return all;
  };
  auto workloads = fixture::workloads();
  auto plain = hashes(plan_of(), workloads);
  EXPECT_EQ(plain.size(), 4u);
  EXPECT_EQ(plain, hashes(plan_of({"suite.*.arms=[\"c_sqlite\"]", "name=other", "suite.0.name=n", "schedule.seed=1"}),
                          workloads));
  EXPECT_NE(plain, hashes(plan_of({"suite.0.params.items=20000"}), workloads));
  workloads[0].version = "2";
  EXPECT_NE(plain, hashes(plan_of(), workloads));
}

// The store keeps label and baseline with a point's hash and refuses another row under it: `try` of a second program,
// and a plan run again with one value of a list, must be other points.
TEST(Expand, PointsThatTheStoreDescribesOtherwiseHaveOtherHashes) {
  auto hash = [](const std::vector<std::string>& sets, const std::string& label) {
    for (const Point& point : points_of(plan_of(sets), fixture::workloads(), 2))
      if (point.params.count("workers") != 0 && point.label == label && point.params.at("workers") == "2")
        return point.hash;
    return std::string("none");
  };
  std::string listed = hash({}, "workers=2");
  EXPECT_NE(listed, "none");
  EXPECT_EQ(listed, hash({"name=other", "schedule.seed=1"}, "workers=2"));
  EXPECT_NE(listed, hash({"suite.*.baseline=rust_rusqlite"}, "workers=2"));
  std::string alone = hash({"suite.1.params.workers=2"}, "");
  EXPECT_NE(alone, "none");
  EXPECT_NE(alone, listed);
}

TEST(Expand, BundlesAreNamedOnceAndFilledIn) {
  Expansion expansion = expanded(plan_of());
  ASSERT_EQ(expansion.bundles.size(), 2u);
  EXPECT_FALSE(set_bundles(expansion, {{"request_shape/c", "aa"}}).ok());
  expansion = expanded(plan_of());
  ASSERT_TRUE(set_bundles(expansion, {{"request_shape/c", "aa"}, {"request_shape/rust", "bb"}}).ok());
  for (const RoundSpec& round : expansion.rounds)
    for (const TrialSpec& trial : round.trials) EXPECT_EQ(trial.bundle, trial.arm == "c_sqlite" ? "aa" : "bb");
}

TEST(Expand, TemplatesFillParametersAndLeaveOtherBracesAlone) {
  std::map<std::string, std::string> params{{"n", "5"}, {"t", "1500ms"}, {"w", "2s"}};
  EXPECT_EQ(fill_template("--n={n}", params), "--n=5");
  EXPECT_EQ(fill_template("{n}{n}", params), "55");
  EXPECT_EQ(fill_template("{t} {t_s} {t_ms} {w_s}", params), "1500ms 1.5 1500 2");
  EXPECT_EQ(fill_template("{\"a\": {n}}", params), "{\"a\": 5}");
  EXPECT_EQ(fill_template("{x} {n", params), "{x} {n");
  Plan plan = plan_of();
  auto workloads = fixture::workloads();
  workloads[0].modes[0].argv.push_back("{absent}");
  EXPECT_FALSE(expand(plan, workloads, {2, "x86_64", 0, 1}).ok());
}

TEST(Estimate, CountsWhatExpansionMakes) {
  Plan plan = plan_of();
  Estimate total = estimate(plan, fixture::workloads(), {2, "x86_64", 0, 1});
  int64_t trials = 0;
  for (const RoundSpec& round : expanded(plan).rounds) trials += static_cast<int64_t>(round.trials.size());
  EXPECT_EQ(total.most_trials, trials);
  EXPECT_EQ(total.trials, 2 * trials);
  EXPECT_EQ(total.machines, 2);
  EXPECT_EQ(total.points, 4);
  auto workload = fixture::request_shape();
  EXPECT_DOUBLE_EQ(trial_seconds(workload.modes[0], {{"items", "20000"}}), 2);
  EXPECT_DOUBLE_EQ(trial_seconds(workload.modes[1], {{"duration", "1s"}, {"warmup", "200ms"}, {"workers", "4"}}), 1.2);
  ModeDecl mode;
  mode.expected_seconds = 8;
  mode.params.resize(3);
  mode.params[0] = {.type = ParamDecl::Type::kInteger, .name = "rows", .default_value = "100", .grows = true};
  mode.params[1] = {.type = ParamDecl::Type::kText,
                    .name = "size",
                    .default_value = "big",
                    .choices = {"small", "big"},
                    .factors = {0.25, 1}};
  mode.params[2] = {.type = ParamDecl::Type::kDuration, .name = "probe", .default_value = "100ms"};
  EXPECT_DOUBLE_EQ(trial_seconds(mode, {{"rows", "50"}, {"size", "small"}, {"probe", "9s"}}), 1);
  EXPECT_DOUBLE_EQ(trial_seconds(mode, {{"rows", "100"}, {"size", "big"}, {"probe", "1ms"}}), 8);
}

}  // namespace
}  // namespace benchctl
