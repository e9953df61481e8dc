#include "agent/exec/run_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/exec/append_file.h"
#include "agent/exec/event_log.h"
#include "agent/exec/round_queue.h"
#include "agent/exec/seal.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/benchagent-unit-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    base_ = name;
    auto folder = RunFolder::create(base_ + "/runs/r1");
    ASSERT_TRUE(folder) << folder.error().message;
    folder_.emplace(std::move(*folder));
  }
  void TearDown() override { EXPECT_TRUE(remove_tree(base_)); }

  static RoundSpec round_of(int number, int64_t trial, int attempt = 1) {
    RoundSpec round{number, {}};
    TrialSpec spec;
    spec.trial = trial;
    spec.attempt = attempt;
    spec.round = number;
    spec.suite = spec.arm = "x";
    spec.phases = {{"run", {"/bin/true"}}};
    spec.timeout_ms = 1000;
    round.trials = {spec};
    return round;
  }

  std::string base_;
  std::optional<RunFolder> folder_;
};

TEST_F(RunFolderTest, IsPrivateAndKnowsItsWorkFolder) {
  struct stat st {};
  ASSERT_EQ(stat(folder_->path().c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700u);
  EXPECT_EQ(folder_->work(), base_);
  EXPECT_EQ(folder_->id(), "r1");
}

TEST_F(RunFolderTest, ATrialFolderIsNewAndNoLinkIsFollowed) {
  EXPECT_TRUE(folder_->make_trial_folder(42, 1));
  EXPECT_TRUE(folder_->has_trial(42, 1));
  EXPECT_FALSE(folder_->make_trial_folder(42, 1));
  ASSERT_EQ(symlink("/tmp", folder_->file("trials/000043").c_str()), 0);
  EXPECT_FALSE(folder_->make_trial_folder(43, 1));
}

TEST_F(RunFolderTest, UnitNames) {
  EXPECT_EQ(unit_name(3), "round-0003");
  EXPECT_EQ(unit_name(0), "round-w000");
  EXPECT_EQ(unit_name(-1), "round-w001");
}

TEST_F(RunFolderTest, ACutLineGoesAndWholeLinesStay) {
  {
    auto file = AppendFile::open(*folder_, "x.csv", "head\n");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append("1\n2\n", true));
  }
  UniqueFd fd(open(folder_->file("x.csv").c_str(), O_WRONLY | O_APPEND));
  ASSERT_TRUE(write_all(fd.get(), std::string(5000, 'y')));
  auto again = AppendFile::open(*folder_, "x.csv", "head\n");
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->append("3\n", false));
  EXPECT_EQ(*read_file(folder_->file("x.csv")), "head\n1\n2\n3\n");
}

TEST_F(RunFolderTest, HistoryIsReadBackAndAGapIsAnError) {
  FakeClock clock;
  auto log = EventLog::open(*folder_, clock, 0);
  ASSERT_TRUE(log);
  Json unit = Json::object();
  unit.set("unit", "round-0001");
  ASSERT_TRUE(log->append("round_started", unit));
  Json trial = Json::object();
  trial.set("trial", 7);
  trial.set("attempt", 2);
  ASSERT_TRUE(log->append("trial_started", trial));
  ASSERT_TRUE(log->append("round_sealed", unit));
  auto history = read_history(*folder_);
  ASSERT_TRUE(history);
  EXPECT_EQ(history->last_event, 3);
  EXPECT_EQ(history->sealed_units.count("round-0001"), 1u);
  EXPECT_EQ(history->trials["round-0001"], (std::vector<std::pair<int64_t, int>>{{7, 2}}));
  EXPECT_FALSE(history->done);
  auto skipped = EventLog::open(*folder_, clock, 4);
  ASSERT_TRUE(skipped->append("run_done", Json::object()));
  EXPECT_FALSE(read_history(*folder_));
}

TEST_F(RunFolderTest, AppendedRoundsGetUnitsOfTheirOwn) {
  Job job;
  job.rounds = {round_of(1, 1), round_of(2, 2)};
  ASSERT_TRUE(append_round(*folder_, to_json(round_of(2, 2, 2)).dump()));
  ASSERT_TRUE(append_round(*folder_, to_json(round_of(2, 2, 2)).dump()));  // the same text: no second round
  ASSERT_TRUE(append_round(*folder_, to_json(round_of(3, 3)).dump()));
  auto queue = read_queue(*folder_, job);
  ASSERT_TRUE(queue);
  std::vector<std::string> units;
  for (const QueuedRound& round : *queue) units.push_back(round.unit + " " + round.file);
  EXPECT_EQ(units, (std::vector<std::string>{"round-0001 ", "round-0002 ", "round-0002-r2 rounds/0001.json",
                                             "round-0003 rounds/0002.json"}));
}

TEST_F(RunFolderTest, AClosedQueueTakesNothingAndClosingNoticesNewRounds) {
  Job job;
  ASSERT_TRUE(append_round(*folder_, to_json(round_of(1, 1)).dump()));
  EXPECT_EQ(*close_queue(*folder_, job, 0), false);
  ASSERT_TRUE(append_round(*folder_, to_json(round_of(2, 2)).dump()));
  EXPECT_EQ(*close_queue(*folder_, job, 2), true);
  auto late = append_round(*folder_, to_json(round_of(3, 3)).dump());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, ErrorKind::kUsage);
}

TEST_F(RunFolderTest, AttemptsMoveOnTogether) {
  RoundSpec round = round_of(1, 1);
  round.trials.push_back(round_of(1, 2).trials[0]);
  EXPECT_EQ(attempt_shift(*folder_, round), 0);
  ASSERT_TRUE(folder_->make_trial_folder(1, 1));
  EXPECT_EQ(attempt_shift(*folder_, round), 1);
  ASSERT_TRUE(folder_->make_trial_folder(2, 2));
  EXPECT_EQ(attempt_shift(*folder_, round), 2);
}

TEST_F(RunFolderTest, ASealedFileThatGrewIsSentAsItWas) {
  ASSERT_TRUE(write_atomic(folder_->file("events.jsonl"), "one\n"));
  auto sealed = seal_final(*folder_);
  ASSERT_TRUE(sealed) << sealed.error().message;
  UniqueFd fd(open(folder_->file("events.jsonl").c_str(), O_WRONLY | O_APPEND));
  ASSERT_TRUE(write_all(fd.get(), "run_done\n"));
  ASSERT_EQ(mkdir((base_ + "/home").c_str(), 0700), 0);
  PackReader reader(base_ + "/home", PackCaps{});
  ASSERT_TRUE(write_unit(*folder_, "final", [&](std::string_view bytes) { return reader.feed(bytes); }));
  ASSERT_TRUE(reader.done());
  EXPECT_EQ(*read_file(base_ + "/home/events.jsonl"), "one\n");
  EXPECT_EQ(sha256_hex(format_manifest(reader.entries())), sealed->manifest_sha256);
}

TEST_F(RunFolderTest, AUnitThatIsNotSealedOrNoUnit) {
  auto sink = [](std::string_view) { return Status(); };
  EXPECT_EQ(write_unit(*folder_, "round-0001", sink).error().kind, ErrorKind::kRegression);
  EXPECT_EQ(write_unit(*folder_, "../x", sink).error().kind, ErrorKind::kUsage);
}

TEST_F(RunFolderTest, RoundsAreChecked) {
  RoundSpec round = round_of(1, 1);
  EXPECT_TRUE(check_round(round));
  round.trials[0].phases = {{"run", {"../x"}}};
  EXPECT_FALSE(check_round(round));
  round.trials[0].phases = {{"run", {"bin/x"}}};  // relative, and no bundle
  EXPECT_FALSE(check_round(round));
  round.trials[0].phases = {{"run", {"/x"}}, {"run", {"/x"}}};
  EXPECT_FALSE(check_round(round));
  round.trials[0].phases = {{"run", {"/x"}}, {"warmup", {"/x"}}};
  EXPECT_FALSE(check_round(round));
}

}  // namespace
}  // namespace benchctl
