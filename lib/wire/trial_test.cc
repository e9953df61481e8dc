#include "lib/wire/trial.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TrialRecord sample() {
  TrialRecord record;
  record.spec.trial = 1;
  record.spec.suite = "s";
  record.spec.arm = "a";
  record.spec.phases = {{"run", {"bin/x"}}};
  record.spec.timeout_ms = 1000;
  record.verdict = "exit";
  record.reason = "ended with 3";
  record.exit_code = 3;
  record.signal = "";
  record.phase = "run";
  record.steal_percent = 0.5;
  record.psi_io_some = 1.25;
  record.uid = 60706;
  record.cpus = "0-1";
  record.containment = "cgroup v2 + uid 60706";
  // Every counter another value, so that two swapped names are seen.
  int64_t next = 100;
  for (auto member :
       {&TrialRecord::started_unix_ms, &TrialRecord::wall_ns, &TrialRecord::user_ns, &TrialRecord::system_ns,
        &TrialRecord::max_rss_bytes, &TrialRecord::minor_faults, &TrialRecord::major_faults,
        &TrialRecord::voluntary_switches, &TrialRecord::involuntary_switches, &TrialRecord::read_bytes,
        &TrialRecord::written_bytes, &TrialRecord::cpu_total_jiffies, &TrialRecord::steal_jiffies,
        &TrialRecord::throttled, &TrialRecord::ended_descendants, &TrialRecord::agent_cpu_ns,
        &TrialRecord::agent_wakeups, &TrialRecord::stdout_bytes, &TrialRecord::stderr_bytes})
    record.*member = next++;
  return record;
}

TEST(Trial, RoundTripKeepsEveryFieldAndWhatIsAbsent) {
  std::string text = to_json(sample()).dump();
  auto record = trial_from_json(*Json::parse(text));
  ASSERT_TRUE(record.ok()) << record.error().message;
  EXPECT_EQ(to_json(*record).dump(), text);
  EXPECT_EQ(record->wall_ns, 101);
  EXPECT_EQ(record->stderr_bytes, 118);
  EXPECT_EQ(record->exit_code, 3);
  EXPECT_EQ(record->steal_percent, 0.5);
  EXPECT_EQ(record->psi_cpu_some, std::nullopt);
  EXPECT_EQ(record->psi_io_some, 1.25);
  TrialRecord killed = sample();
  killed.exit_code = std::nullopt;
  EXPECT_EQ(trial_from_json(to_json(killed))->exit_code, std::nullopt);
}

TEST(Trial, AnotherVersionIsRefused) {
  Json json = to_json(sample());
  json.set("version", 9);
  EXPECT_EQ(trial_from_json(json).error().message, "trial.json of version 9, this benchctl speaks 1");
}

TEST(Trial, HostileRecordsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"verdict", "\"\""},    {"verdict", "null"},         {"wall_ns", "-1"}, {"wall_ns", "1.5"},
      {"wall_ns", "null"},    {"steal_jiffies", "\"0\""},  {"spec", "null"},  {"steal_percent", "-0.1"},
      {"psi_cpu_some", "-1"}, {"exit_code", "4294967296"}, {"uid", "-1"},     {"uid", "99999999999"},
  };
  for (const auto& [key, value] : changes) {
    Json json = to_json(sample());
    json.set(key, *Json::parse(value));
    EXPECT_FALSE(trial_from_json(json).ok()) << key << " = " << value;
  }
}

}  // namespace
}  // namespace benchctl
