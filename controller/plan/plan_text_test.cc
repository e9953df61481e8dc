#include "controller/plan/plan_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "controller/plan/expand.h"
#include "controller/plan/plan_fixture.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

const MachineShape kHost{2, "x86_64", 0, 1};

Plan plan_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  auto plan = fixture::read(text, sets);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return *plan;
}

TEST(PlanText, TheTemplatePassesPlanCheckWithoutDoubts) {
  EXPECT_TRUE(plan_of(plan_template()).warnings.empty());
}

TEST(PlanText, CheckSaysGoodAndHowMuch) {
  std::ostringstream out;
  ASSERT_TRUE(check_plan(plan_of(plan_template(), {"schedule.runs=3"}), fixture::workloads(), kHost, false, out).ok());
  EXPECT_EQ(out.str(),
            "p.toml: good: 68 trials on 1 machine, about 3m 06s\n"
            "--set schedule.runs=3: warning: 3 scored rounds give no verdict: that needs 6 or more\n");
}

TEST(PlanText, CheckAsJsonCarriesEveryMistake) {
  auto bad = fixture::read("schema = 1\nname = \"x\"\n");
  Json json = plan_check_json("p.toml", bad);
  EXPECT_FALSE(json["good"].as_bool(true));
  EXPECT_EQ(json["errors"].as_array().size(), 2u);
  Json good = plan_check_json("p.toml", fixture::read(plan_template()));
  EXPECT_TRUE(good["good"].as_bool());
  EXPECT_EQ(good["sha256"].as_string().size(), 64u);
}

TEST(PlanText, ShowNamesMachinesSuitesArmsTrialsTimeAndCost) {
  std::ostringstream out;
  Plan plan = plan_of(plan_template());
  ASSERT_TRUE(show_plan(plan, fixture::workloads(), kHost, false, out).ok());
  EXPECT_EQ(out.str(), "plan      my-plan (p.toml)\nsha256    " + plan.sha256 +
                           R"(
root      
machines  small: 1 x nspawn trixie, x86_64, 2 CPUs, cpus 0-1, disk 2GiB, memory 1GiB
schedule  latin order, seed 42, 1 warm-up round, 7 scored rounds
limits    ttl 1h 00m, a trial 5m 00s
harden    quiet
suite     request_shape.sequential
  arms    c_sqlite (baseline), rust_rusqlite, c_sqlite again (A/A)
  params  items = 10000, statement_cache = fits
suite     request_shape.concurrent
  arms    c_sqlite (baseline), rust_rusqlite, c_sqlite again (A/A, at the fewest and most workers)
  params  duration = 2s, warmup = 500ms, workers = auto, workload = read | write
points    7
trials    136 trials on 1 machine, about 5m 51s
cost      free
numbers   functional: these machines are parts of this computer and share its cores
)");
}

TEST(PlanText, ShowSaysThatNothingIsHardenedAndWhichClaimsAreHeldAgainstTheRun) {
  std::ostringstream out;
  Plan plan = plan_of(plan_template(), {"harden.profile=none", "report.claims=[\"a.toml\", \"b.toml\"]"});
  ASSERT_TRUE(show_plan(plan, fixture::workloads(), kHost, false, out).ok());
  EXPECT_NE(out.str().find("\nharden    none: the machines as they are\nclaims    a.toml, b.toml\n"), std::string::npos)
      << out.str();
}

TEST(PlanText, ShowAsJsonAgreesWithExpansion) {
  Plan plan = plan_of(plan_template(), {"fleet.small.count=2"});
  Json json = plan_show_json(plan, fixture::workloads(), kHost);
  auto expansion = expand(plan, fixture::workloads(), kHost);
  ASSERT_TRUE(expansion.ok());
  int64_t trials = 0;
  for (const RoundSpec& round : expansion->rounds) trials += static_cast<int64_t>(round.trials.size());
  EXPECT_EQ(json["trials"].as_int(), 2 * trials);
  EXPECT_EQ(json["points"].as_array().size(), expansion->points.size());
  EXPECT_EQ(json["points"].as_array()[0]["definition_hash"].as_string(), expansion->points[0].definition_hash);
  EXPECT_TRUE(json["functional"].as_bool());
}

TEST(PlanText, TheResolvedPlanIsAPlanThatMeansTheSame) {
  const std::vector<std::vector<std::string>> variants{
      {},
      {"fleet.small.cpus=\"0-1\"", "fleet.small.require.cpu_model=\"Xeon|\\\\d+\\\"x\"", "limits.max_cost=2.50 USD"},
      {"noise.max_steal=0.1%", "schedule.target_ci=1%", "schedule.aa=false", "limits.trial_timeout=1500ms"},
      {"suite.1.params.workers=[1, 4]", "suite.0.params.statement_cache=[\"fits\", \"none\"]", "suite.0.name=s.1"},
      {"schedule.runs=40", "limits.ttl=3h"},
  };
  for (const auto& sets : variants) {
    Plan plan = plan_of(plan_template(), sets);
    std::string resolved = resolved_toml(plan);
    Plan again = plan_of(resolved);
    EXPECT_EQ(resolved_toml(again), resolved);
    auto first = expand(plan, fixture::workloads(), kHost), second = expand(again, fixture::workloads(), kHost);
    ASSERT_TRUE(first.ok() && second.ok());
    for (size_t i = 0; i < first->rounds.size(); ++i)
      EXPECT_EQ(to_json(first->rounds[i]).dump(), to_json(second->rounds[i]).dump());
  }
}

TEST(PlanText, KeptMachinesSurviveResolving) {
  const std::string key = "SHA256:" + std::string(43, 'k');
  std::string text = plan_template();
  size_t begin = text.find("[fleet.small]"), end = text.find("\n[", begin + 1);
  text.replace(begin, end - begin,
               "[fleet.small]\nprovider = \"ssh\"\nbecome = \"sudo\"\nhosts = [{ host = \"10.0.0.7\", user = "
               "\"bench\", key_file = \"~/.ssh/id\", host_key = \"" +
                   key +
                   "\" }, { host = \"fd00::7\", port = 2222, user = \"root\", key_file = \"/k\", host_key = "
                   "\"accept-first\" }]\n");
  text.insert(text.find("[harden]\n") + 9, "persistent_ok = true\n");
  Plan plan = plan_of(resolved_toml(plan_of(text)));
  const Fleet& fleet = plan.fleets.at("small");
  EXPECT_EQ(fleet.count, 2);
  ASSERT_EQ(fleet.spec.hosts.size(), 2u);
  EXPECT_EQ(fleet.spec.hosts[0].host, "10.0.0.7");
  EXPECT_EQ(fleet.spec.hosts[0].port, 22);
  EXPECT_EQ(fleet.spec.hosts[0].host_key, key);
  EXPECT_EQ(fleet.spec.hosts[1].host, "fd00::7");
  EXPECT_EQ(fleet.spec.hosts[1].port, 2222);
  EXPECT_EQ(fleet.spec.hosts[1].user, "root");
  EXPECT_EQ(fleet.spec.hosts[1].key_file, "/k");
  EXPECT_EQ(fleet.spec.hosts[1].host_key, kAcceptFirst);
  for (const SshHost& host : fleet.spec.hosts) EXPECT_EQ(host.become, "sudo");
}

TEST(PlanText, TheShippedPlansAreGood) {
  for (const char* name : {"local", "local-no-root", "quick"}) {
    auto text = read_file(std::string(BENCHCTL_SOURCE_DIR) + "/plans/" + name + ".toml");
    ASSERT_TRUE(text.ok()) << name;
    Plan plan = plan_of(*text);
    EXPECT_EQ(plan.name, name);
    EXPECT_EQ(plan.warnings.empty(), std::string(name) != "quick") << join(plan.warnings, "\n");
  }
}

}  // namespace
}  // namespace benchctl
