#include "provisioning/lifecycle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "provisioning/testing/fake_provider.h"

namespace benchctl {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Call = FaultyProvider::Call;
using When = FaultyProvider::When;

const Error kTimeout{ErrorKind::kProvisioning, "timed out"};

class Book final : public LeaseBook {
 public:
  Result<std::vector<BookedMachine>> open() override { return entries; }
  Result<bool> executing(const std::string& run) override { return living.count(run) != 0; }
  Status gone(const std::string& nonce) override {
    std::erase_if(entries, [&](const auto& entry) { return entry.lease.nonce == nonce; });
    return {};
  }
  std::vector<BookedMachine> entries;
  std::set<std::string> living;
};

class Lifecycle : public testing::Test {
 protected:
  Lease lease(const std::string& nonce = "n1", const std::string& run = "run-1") {
    Lease made;
    made.nonce = nonce;
    made.run = run;
    made.owner = "us";
    made.name = "bc-" + nonce;
    made.expires_unix = now() + 3600;
    return made;
  }
  int64_t now() { return clock_.unix_ms() / 1000; }
  Machine machine(const Lease& of) { return {"fake", "", of.name, of.nonce, of.run, of.owner, of.expires_unix, {}}; }
  Result<Machine> get(Lease of) {
    return acquire(faulty_, spec_, of, Bootstrap{}, clock_, Deadline::in(clock_, minutes(5)));
  }
  Status drop(const Machine& which, Nanos span = minutes(5)) {
    return release(faulty_, which, clock_, Deadline::in(clock_, span));
  }
  BookedMachine booked(const Lease& of, bool confirmed = true, bool finished = false) {
    return {of, "fake", "", confirmed, finished, 0};
  }
  std::vector<Reaped> reaped(bool dry_run = false, const std::string& run = "") {
    ReapOptions options;
    options.owner = "us";
    options.run = run;
    options.now_unix = now();
    options.dry_run = dry_run;
    return reap({{"fake", &faulty_}}, book_, options, clock_).value();
  }

  FakeClock clock_;
  FakeProvider cloud_{clock_, FakeCloud{}};
  FaultyProvider faulty_{cloud_};
  MachineSpec spec_{.provider = "fake"};
  Book book_;
};

TEST_F(Lifecycle, AcquireWaitsForStateAndAddress) {
  auto made = get(lease());
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(made->endpoint.has_value());
  EXPECT_GE(clock_.now(), cloud_.cloud().address_time);
  EXPECT_LT(faulty_.calls(Call::kState), 40);  // it backs off
}

TEST_F(Lifecycle, CreateThatTimedOutIsAdoptedNotRepeated) {
  faulty_.fail_next(Call::kCreate, When::kAfter, kTimeout);
  cloud_.cloud().list_lag = seconds(40);
  auto made = get(lease());
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(cloud_.made(), 1);
  EXPECT_EQ(faulty_.calls(Call::kCreate), 1);
}

TEST_F(Lifecycle, CreateThatFailedAndLeftNothingEndsAfterTheLookUp) {
  faulty_.fail_next(Call::kCreate, When::kBefore, kTimeout);
  auto made = get(lease());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::kProvisioning);
  EXPECT_GE(clock_.now(), seconds(120));
  EXPECT_EQ(cloud_.made(), 0);
}

TEST_F(Lifecycle, StockOutGoesToTheNextRegionInOrder) {
  spec_.regions = {"full", "free"};
  cloud_.cloud().stocked_out = "full";
  auto made = get(lease());
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(faulty_.calls(Call::kCreate), 2);
}

TEST_F(Lifecycle, WrongCredentialsAreNotTriedElsewhere) {
  spec_.regions = {"a", "b", "c"};
  faulty_.fail_next(Call::kCreate, When::kBefore, Error{ErrorKind::kUsage, "token refused"}, 3);
  auto made = get(lease());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(faulty_.calls(Call::kCreate), 1);
}

TEST_F(Lifecycle, StumblingStateIsAskedAgainAndAMachineThatNeverRunsIsGivenUp) {
  faulty_.fail_next(Call::kState, When::kBefore, kTimeout, 5);
  ASSERT_TRUE(get(lease()).ok());
  cloud_.cloud().boot_time = cloud_.cloud().address_time = minutes(60);
  auto never = get(lease("n2"));
  ASSERT_FALSE(never.ok());
  EXPECT_NE(never.error().message.find("in time"), std::string::npos);
}

TEST_F(Lifecycle, ReleaseDestroysUntilGone) {
  auto made = get(lease());
  cloud_.cloud().ignored_destroys = 3;  // accepted, still running
  ASSERT_TRUE(drop(*made).ok());
  EXPECT_EQ(cloud_.existing(), 0);
  EXPECT_GE(faulty_.calls(Call::kDestroy), 4);
}

TEST_F(Lifecycle, ReleaseOfAMachineWhoseCreateNeverAnsweredFindsItLater) {
  cloud_.cloud().list_lag = seconds(90);
  faulty_.fail_next(Call::kCreate, When::kAfter, kTimeout);
  ASSERT_FALSE(acquire(faulty_, spec_, lease(), Bootstrap{}, clock_, Deadline::in(clock_, seconds(10))).ok());
  ASSERT_TRUE(drop(machine(lease())).ok());
  EXPECT_EQ(cloud_.existing(), 0);
}

TEST_F(Lifecycle, WhatCannotBeProvedGoneIsLeakedWithItsIdAndTheCommand) {
  auto made = get(lease());
  cloud_.cloud().ignored_destroys = 1'000'000;
  auto status = drop(*made, seconds(30));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kLeaked);
  EXPECT_NE(status.error().message.find("id-1"), std::string::npos);
  EXPECT_NE(status.error().message.find("benchctl reap --run run-1"), std::string::npos);
}

TEST_F(Lifecycle, AListThatFailsIsNoProof) {
  auto made = get(lease());
  faulty_.fail_next(Call::kList, When::kBefore, kTimeout, 10'000);
  auto status = drop(*made, seconds(60));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kLeaked);
}

TEST_F(Lifecycle, ReapTakesFinishedUnconfirmedAndExpiredAndLeavesTheRest) {
  auto put = [&](const std::string& nonce, const std::string& run, bool confirmed, bool finished) {
    ASSERT_TRUE(cloud_.create(spec_, lease(nonce, run), {}).ok());
    book_.entries.push_back(booked(lease(nonce, run), confirmed, finished));
  };
  put("resumable", "r1", true, false);
  put("finished", "r2", true, true);
  put("unconfirmed", "r3", false, false);
  put("living", "r4", false, false);
  put("kept", "r5", true, true);
  book_.entries.back().keep_until_unix = now() + 600;
  book_.living.insert("r4");
  cloud_.plant({"fake", "x", "bc-theirs", "theirs", "r9", "them", 1, {}});
  cloud_.plant({"fake", "y", "unnamed", "unnamed", "", "", 1, {}});
  cloud_.plant({"fake", "z", "bc-old", "old", "r8", "us", 1, {}});

  auto names = [](const std::vector<Reaped>& all, ReapAction action) {
    std::set<std::string> found;
    for (const auto& one : all)
      if (one.action == action) found.insert(one.machine.nonce);
    return found;
  };
  auto dry = reaped(true);
  EXPECT_EQ(names(dry, ReapAction::kWouldDestroy), (std::set<std::string>{"finished", "old", "unconfirmed"}));
  EXPECT_EQ(cloud_.existing(), 8);
  auto real = reaped();
  EXPECT_EQ(names(real, ReapAction::kDestroyed), (std::set<std::string>{"finished", "old", "unconfirmed"}));
  EXPECT_EQ(names(real, ReapAction::kLeft), (std::set<std::string>{"kept", "living", "resumable"}));
  EXPECT_EQ(cloud_.existing(), 5);
  EXPECT_EQ(book_.entries.size(), 3U);
  // After the expiry nothing of ours stays, and others' still do.
  clock_.sleep(std::chrono::hours(2));
  reaped();
  EXPECT_EQ(cloud_.existing(), 2);
}

TEST_F(Lifecycle, ReapOfOneRunTakesAllOfItAndNothingElse) {
  for (const char* nonce : {"a", "b"}) {
    ASSERT_TRUE(cloud_.create(spec_, lease(nonce, std::string("run-") + nonce), {}).ok());
    book_.entries.push_back(booked(lease(nonce, std::string("run-") + nonce)));
  }
  reaped(false, "run-a");
  EXPECT_EQ(cloud_.existing(), 1);
  ASSERT_EQ(book_.entries.size(), 1U);
  EXPECT_EQ(book_.entries[0].lease.nonce, "b");
}

TEST_F(Lifecycle, BookedMachineThatNobodyListsIsClosed) {
  book_.entries.push_back(booked(lease("never-made"), false));
  auto results = reaped();
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].action, ReapAction::kDestroyed) << results[0].why;
  EXPECT_TRUE(book_.entries.empty());
}

TEST_F(Lifecycle, ProviderThatCannotBeAskedIsAFailureAndTheOthersAreDealtWith) {
  FakeProvider other{clock_, {}};
  book_.entries.push_back(booked(lease("never-made"), false));
  faulty_.fail_next(Call::kList, When::kBefore, kTimeout);
  ReapOptions options;
  options.owner = "us";
  options.now_unix = clock_.unix_ms() / 1000;
  auto results = reap({{"broken", &faulty_}, {"fake", &other}}, book_, options, clock_);
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->size(), 2U);
  EXPECT_EQ((*results)[0].action, ReapAction::kFailed);
  EXPECT_EQ((*results)[0].machine.provider, "broken");
  EXPECT_NE((*results)[0].why.find("cannot be listed"), std::string::npos);
  EXPECT_EQ((*results)[1].action, ReapAction::kDestroyed) << (*results)[1].why;
  EXPECT_TRUE(book_.entries.empty());
}

}  // namespace
}  // namespace benchctl
