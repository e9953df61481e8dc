#include "lib/wire/job.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TrialSpec sample_trial() {
  TrialSpec spec;
  spec.trial = 42;
  spec.attempt = 2;
  spec.suite = "sqlite";
  spec.point = "workers=4";
  spec.arm = "a";
  spec.aa_copy = true;
  spec.round = -1;
  spec.position = 3;
  spec.format = "concurrent";
  spec.definition_hash = "d";
  spec.params = {{"workers", "4"}, {"mode", ""}};
  spec.bundle = std::string(64, 'b');
  spec.phases = {{"setup", {"bin/x", "--setup"}}, {"run", {"bin/x", "a b", ""}}};
  spec.env = {{"LANG", "C"}};
  spec.timeout_ms = 60'000;
  return spec;
}

Job sample_job() {
  Job job;
  job.run = "run-1";
  job.machine = "m-1";
  job.seed = 0x123456789abcdef;
  job.cpus = "0-1";
  job.bundles_dir = "/var/lib/benchctl/bundles";
  job.linger_ms = 1;
  job.ack_wait_ms = 2;
  job.stdout_cap = 3;
  job.min_free_bytes = 4;
  job.memory_bytes = 5;
  job.max_pids = 6;
  job.max_other_busy = 0.25;
  job.quiet_wait_ms = 7;
  job.rounds = {{-1, {sample_trial()}}};
  return job;
}

TEST(Job, RoundTripKeepsEveryField) {
  std::string text = to_json(sample_job()).dump();
  auto job = job_from_json(*Json::parse(text));
  ASSERT_TRUE(job.ok()) << job.error().message;
  EXPECT_EQ(to_json(*job).dump(), text);
  EXPECT_EQ(job->seed, 0x123456789abcdefu);
  EXPECT_EQ(job->max_other_busy, 0.25);
  ASSERT_EQ(job->rounds.size(), 1u);
  const TrialSpec& spec = job->rounds[0].trials[0];
  EXPECT_EQ(spec.phases[1].argv, (std::vector<std::string>{"bin/x", "a b", ""}));
  EXPECT_EQ(spec.params, sample_trial().params);
  EXPECT_TRUE(spec.aa_copy);
}

TEST(Job, AnotherVersionIsRefusedAndSaysBoth) {
  Json json = to_json(sample_job());
  json.set("version", 3);
  json.set("run", Json());
  auto job = job_from_json(json);
  ASSERT_FALSE(job.ok());
  EXPECT_NE(job.error().message.find("version 3"), std::string::npos);
  EXPECT_NE(job.error().message.find("version 2"), std::string::npos);
}

// Each change alone makes the trial unacceptable: nothing is dropped or bent silently.
TEST(Job, OddTrialsAreRefused) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"trial", "0"},
      {"trial", "1000000"},
      {"trial", "\"1\""},
      {"attempt", "0"},
      {"attempt", "100"},
      {"round", "100001"},
      {"round", "-1001"},
      {"position", "-1"},
      {"position", "4294967297"},
      {"suite", "null"},
      {"arm", "3"},
      {"phases", "[]"},
      {"phases", R"([{"name":"run","argv":[]}])"},
      {"phases", R"([{"name":"run","argv":["x",5]}])"},
      {"phases", R"([{"name":"other","argv":["x"]}])"},
      {"timeout_ms", "0"},
      {"timeout_ms", "-5"},
      {"params", R"({"workers":4})"},
      {"env", R"({"A":null})"},
  };
  ASSERT_TRUE(trial_spec_from_json(trial_spec_to_json(sample_trial())).ok());
  for (const auto& [key, value] : changes) {
    Json json = trial_spec_to_json(sample_trial());
    json.set(key, *Json::parse(value));
    EXPECT_FALSE(trial_spec_from_json(json).ok()) << key << " = " << value;
  }
}

TEST(Job, ARoundHoldsOnlyItsOwnTrialsAndASaneNumber) {
  RoundSpec round{-1, {sample_trial()}};
  Json json = to_json(round);
  ASSERT_TRUE(round_from_json(json).ok());
  json.set("round", 2);
  EXPECT_FALSE(round_from_json(json).ok());
  json.set("trials", Json::array());
  EXPECT_TRUE(round_from_json(json).ok());
  json.set("round", (int64_t{1} << 32) + 1);
  EXPECT_FALSE(round_from_json(json).ok());
}

}  // namespace
}  // namespace benchctl
