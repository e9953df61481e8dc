#include "controller/policy/policy.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "controller/plan/plan_fixture.h"
#include "lib/test_folder.h"

namespace benchctl {
namespace {

constexpr const char* kPlan = R"(schema = 1
name = "pr"
[fleet.small]
provider = "nspawn"
count = 3
[limits]
ttl = "2h"
[[suite]]
workload = "spin"
mode = "once"
arms = ["spin"]
)";

Policy policy(const std::string& text) {
  auto read = read_policy("schema = 1\n" + text, "policy.toml");
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return read.ok() ? *read : Policy{};
}

Plan plan(const std::string& text = kPlan, const std::vector<std::string>& sets = {}) {
  auto read = fixture::read(text, sets);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return read.ok() ? *read : Plan{};
}

std::string verdict(const Plan& plan, const Policy& policy, bool untrusted = false) {
  auto checked = check_policy(plan, policy, untrusted);
  if (checked) return "";
  EXPECT_EQ(checked.error().kind, ErrorKind::kUsage);
  return checked.error().message;
}

TEST(Policy, NoneBoundsNothingButThePlansOfStrangers) {
  EXPECT_EQ(verdict(plan(), Policy{}), "");
  EXPECT_NE(verdict(plan(), Policy{}, true).find("there is no policy"), std::string::npos);
  EXPECT_NE(verdict(plan(), policy("[allow]\nproviders = [\"nspawn\"]\n"), true).find("no such table"),
            std::string::npos);
}

TEST(Policy, EachBoundNamesThePlansPlaceAndThePolicysLine) {
  EXPECT_EQ(verdict(plan(), policy("[allow]\nproviders = [\"local\"]\n")),
            "p.toml:4:12: provider in [fleet.small] \"nspawn\" is not allowed: policy.toml:3 (providers in [allow]) "
            "allows local");
  EXPECT_EQ(verdict(plan(), policy("[allow]\nproviders = []\n")),
            "p.toml:4:12: provider in [fleet.small] \"nspawn\" is not allowed: policy.toml:3 (providers in [allow]) "
            "allows nothing");
  EXPECT_EQ(verdict(plan(), policy("[allow]\n\nmax_count = 2\n")),
            "p.toml:5:9: the plan asks for 3 machines: policy.toml:4 (max_count in [allow]) allows 2");
  EXPECT_EQ(verdict(plan(), policy("[allow]\nmax_ttl = \"1h\"\n")),
            "p.toml:7:7: machines may live for 2h 00m (ttl in [limits]): policy.toml:3 (max_ttl in [allow]) allows "
            "1h 00m");
  EXPECT_EQ(verdict(plan(), policy("[allow]\nproviders = [\"nspawn\"]\nmax_count = 3\nmax_ttl = \"2h\"\n")), "");
  // What came by --set is bounded too, and named.
  EXPECT_EQ(verdict(plan(kPlan, {"fleet.small.count=4"}), policy("[allow]\nmax_count = 3\n"))
                .rfind("--set fleet.small.count=4: ", 0),
            0U);
}

TEST(Policy, AllFindingsComeInOneGo) {
  std::string said = verdict(plan(), policy("[allow]\nproviders = []\nmax_count = 0\nmax_ttl = \"1m\"\n"));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2);
}

TEST(Policy, UntrustedPlansHaveOnlyWhatIsNamed) {
  const std::string all = "[untrusted]\nproviders = [\"nspawn\"]\nmax_count = 3\nmax_ttl = \"2h\"\n";
  EXPECT_EQ(verdict(plan(), policy(all), true), "");
  std::string said = verdict(plan(), policy("[untrusted]\n"), true);
  for (const char* what : {"provider in [fleet.small]", "3 machines", "machines may live"})
    EXPECT_NE(said.find(what), std::string::npos) << said;
  // [allow] holds for them as well.
  EXPECT_NE(verdict(plan(), policy("[allow]\nmax_count = 1\n" + all), true).find("[allow]"), std::string::npos);
}

// Providers that this version does not read yet: the plan as a value.
Plan cloud_plan() {
  Plan plan;
  plan.file = "p.toml";
  Fleet& fleet = plan.fleets["c"];
  fleet.spec.provider = "hetzner";
  fleet.spec.regions = {"fsn1", "nbg1"};
  plan.limits.max_cost = 4.0;
  plan.limits.ttl_ms = 60'000;
  return plan;
}

TEST(Policy, RegionsAndCost) {
  EXPECT_EQ(verdict(cloud_plan(), policy("[allow]\nregions = [\"fsn1\",\"nbg1\"]\nmax_cost = \"4.00 USD\"\n")), "");
  EXPECT_NE(verdict(cloud_plan(), policy("[allow]\nregions = [\"fsn1\"]\n")).find("\"nbg1\" is not allowed"),
            std::string::npos);
  EXPECT_NE(verdict(cloud_plan(), policy("[allow]\nmax_cost = \"3.99 USD\"\n")).find("max_cost in [limits] is 4.00"),
            std::string::npos);
  EXPECT_NE(verdict(cloud_plan(), policy("[allow]\nmax_cost = \"9.00 EUR\"\n")).find("4.00 USD"), std::string::npos);
  Plan open = cloud_plan();
  open.limits.max_cost.reset();
  open.fleets["c"].spec.regions.clear();
  std::string said = verdict(open, policy("[allow]\nregions = [\"fsn1\"]\nmax_cost = \"3 USD\"\n"));
  EXPECT_NE(said.find("names no region"), std::string::npos) << said;
  EXPECT_NE(said.find("sets no max_cost"), std::string::npos) << said;
  said = verdict(cloud_plan(), policy("[untrusted]\nproviders=[\"hetzner\"]\nmax_count=1\nmax_ttl=\"1h\"\n"), true);
  EXPECT_NE(said.find("machines cost money"), std::string::npos) << said;
  EXPECT_NE(said.find("\"fsn1\" is not allowed"), std::string::npos) << said;
}

TEST(Policy, StrangersRunNothingHereAndNameNoFileOfOurs) {
  Policy open = policy(
      "[untrusted]\nproviders = [\"local\", \"ssh\"]\nhosts = [\"10.0.0.7\"]\nmax_count = 2\nmax_ttl = \"2h\"\n");
  Plan bad;
  bad.file = "p.toml";
  bad.limits.ttl_ms = 60'000;
  bad.persistent_ok = true;
  bad.builds["x"].run = {"make"};
  bad.fleets["a"].spec.provider = "local";
  bad.fleets["b"].spec.provider = "ssh";
  SshHost host;
  host.host = "10.0.0.8";
  host.user = "root";
  host.key_file = "/root/.ssh/id";
  host.become = "sudo";
  bad.fleets["b"].spec.hosts = {host};
  bad.suites.push_back({.name = "own", .command = {"./own"}});
  std::string said = verdict(bad, open, true);
  for (const char* what : {"[build.x] runs", "persistent_ok changes", "become in [fleet.b]", "key_file names",
                           "\"10.0.0.8\" is not allowed", "suite own runs a program"})
    EXPECT_NE(said.find(what), std::string::npos) << what << " in " << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 5);
  EXPECT_EQ(verdict(bad, policy(""), false), "");
}

TEST(Policy, MistakesOfThePolicyAreNamedByLine) {
  auto mistakes = read_policy(
      "schema = 1\n[allow]\nprovider = [\"local\"]\n[untrusted]\nproviders = [\"nspwan\"]\nmax_ttl = 3\nmax_count = "
      "-1\n",
      "policy.toml");
  ASSERT_FALSE(mistakes.ok());
  const std::string& said = mistakes.error().message;
  EXPECT_NE(said.find("policy.toml:3:1: unknown key \"provider\" in [allow]; did you mean \"providers\"?"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("did you mean \"nspawn\"?"), std::string::npos) << said;
  EXPECT_NE(said.find("policy.toml:6:"), std::string::npos) << said;
  EXPECT_NE(said.find("policy.toml:7:"), std::string::npos) << said;
  EXPECT_FALSE(read_policy("[allow]\n", "p").ok()) << "without schema";
}

TEST(Policy, AFileThatOthersCanChangeOrThatCannotBeReadIsNoPolicyAtAll) {
  TestFolder folder;
  std::string path = folder / "policy.toml";
  EXPECT_TRUE(load_policy(path, false).ok());
  EXPECT_FALSE(load_policy(path, true).ok());
  ASSERT_TRUE(write_atomic(path, "schema = 1\n[allow]\nmax_count = 1\n", 0644).ok());
  EXPECT_EQ(load_policy(path, false)->allow.max_count, 1);
  ASSERT_EQ(chmod(path.c_str(), 0664), 0);
  auto open = load_policy(path, false);
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.error().message.find("others can change it"), std::string::npos);
  EXPECT_FALSE(load_policy(folder.path(), false).ok()) << "a folder in its place";
}

}  // namespace
}  // namespace benchctl
