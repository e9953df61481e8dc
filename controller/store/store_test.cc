#include "controller/store/store.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controller/store/migrations.h"
#include "controller/store/sqlite_store.h"
#include "controller/store/store_test_support.h"

namespace benchctl {
namespace {

const int kVersion = store_migrations().back().version;
const std::string kOldCopy = ".v" + std::to_string(kVersion);

using StoreTest = StoreFixture;

mode_t mode_of(const std::string& path) {
  struct stat st {};
  EXPECT_EQ(stat(path.c_str(), &st), 0) << path;
  return st.st_mode & 07777;
}

TEST_F(StoreTest, TheSchemaIsCompiledInAsItStands) {
  EXPECT_EQ(must(read_file(std::string(BENCHCTL_SOURCE_DIR) + "/controller/store/schema.sql")), kSchema);
}

TEST_F(StoreTest, FilesArePrivateEvenWhenTheyWereNot) {
  { auto store = open(); }
  EXPECT_EQ(mode_of(store_path()), 0600U);
  EXPECT_EQ(mode_of(folder_ + "/store"), 0700U);
  ASSERT_EQ(chmod(store_path().c_str(), 0644), 0);
  auto store = open();
  begin(*store);
  EXPECT_EQ(mode_of(store_path()), 0600U);
  EXPECT_EQ(mode_of(store_path() + "-wal"), 0600U);
  EXPECT_EQ(mode_of(store_path() + "-shm"), 0600U);
}

TEST_F(StoreTest, ConnectionsAreHardened) {
  { auto store = open(); }
  auto database = must(sqlite::Database::open(store_path()));
  EXPECT_EQ(must(database.text("PRAGMA journal_mode")), "wal");
  EXPECT_EQ(must(database.integer("PRAGMA synchronous")), 2);
  EXPECT_EQ(must(database.integer("PRAGMA foreign_keys")), 1);
  EXPECT_EQ(must(database.integer("PRAGMA trusted_schema")), 0);
  EXPECT_EQ(must(database.integer("PRAGMA busy_timeout")), 5000);
  // DEFENSIVE: not even with writable_schema can the tables' definitions be written.
  must(database.exec("PRAGMA writable_schema=ON"));
  EXPECT_FALSE(database.exec("UPDATE sqlite_schema SET sql = '' WHERE name = 'run'").ok());
  EXPECT_FALSE(database.exec("INSERT INTO trace (run, suite, arm, sha256) VALUES ('none', 1, 1, '')").ok());
  EXPECT_FALSE(database.exec("SELECT \"text\"").ok());
}

TEST_F(StoreTest, RunsAreListedNewestFirstAndNamedWhenMistyped) {
  auto store = open();
  EXPECT_FALSE(must(store->latest_run()).has_value());
  begin(*store);
  RunRow second = must(store->run("r1"));
  EXPECT_EQ(second.outcome, RunOutcome::kRunning);
  EXPECT_EQ(second.seed, 42U);
  EXPECT_FALSE(second.finished_ms.has_value());
  second.id = "night-2";
  second.folder = folder_ + "/runs/night-2";
  second.created_ms += 5;
  second.seed = INT64_MAX;
  must(store->begin_run(second));
  clock_.sleep(std::chrono::seconds(3));
  must(store->finish_run("night-2", RunOutcome::kFailed, 6, "arms disagree"));
  RunRow found = must(store->run("night-2"));
  EXPECT_EQ(found.outcome, RunOutcome::kFailed);
  EXPECT_EQ(found.exit_code, 6);
  EXPECT_EQ(found.reason, "arms disagree");
  EXPECT_EQ(found.finished_ms, clock_.unix_ms());
  EXPECT_EQ(found.seed, static_cast<uint64_t>(INT64_MAX));
  EXPECT_EQ(must(store->latest_run())->id, "night-2");
  auto runs = must(store->runs());
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].id, "r1");
  auto missing = store->run("nigth-2");
  EXPECT_EQ(missing.error().message, "no run nigth-2 in store " + store_path() + "; did you mean night-2?");
  EXPECT_EQ(missing.error().kind, ErrorKind::kUsage);
  EXPECT_FALSE(store->finish_run("none", RunOutcome::kGood, 0, "").ok());
  EXPECT_FALSE(store->begin_run(second).ok()) << "the same run twice";
  second.id = "../x";
  EXPECT_FALSE(store->begin_run(second).ok());
}

TEST_F(StoreTest, ALeaseIsDurableBeforeAnythingElseAndTheSameOneGivesTheSameMachine) {
  auto store = open();
  begin(*store);
  EXPECT_EQ(count("SELECT count(*) FROM lease"), 1);
  EXPECT_EQ(text("SELECT state FROM machine"), "intent");
  MachineRow row = must(store->machine(machine_));
  EXPECT_EQ(must(store->add_lease(row.lease, row.spec, false)), machine_);
  EXPECT_EQ(count("SELECT count(*) FROM machine"), 1);
  EXPECT_EQ(row.lease.owner, must(store->owner()));
  EXPECT_EQ(row.lease.expires_unix, 2'000'000'000);
  EXPECT_EQ(row.spec.options.at("cpus"), "0-1");
  EXPECT_FALSE(row.endpoint.has_value());
  Lease other = row.lease;
  other.nonce = "zzz";
  other.run = "no-such-run";
  EXPECT_FALSE(store->add_lease(other, row.spec, false).ok());
}

TEST_F(StoreTest, AMachinesLifeIsWrittenDown) {
  auto store = open();
  begin(*store);
  Endpoint endpoint{Endpoint::Kind::kSsh, "fe80::1", 2222, "root", "/run/netns/x", "/var/lib/benchctl"};
  must(store->machine_created(machine_, "id-7", endpoint));
  must(store->set_host_key(machine_, "SHA256:abc"));
  must(store->set_agent_dir(machine_, "/var/lib/benchctl/runs/r1"));
  must(store->machine_facts(machine_, {"{\"version\":1}", "", "f1", "h1"}));
  must(store->machine_facts(machine_, {"", "{\"version\":2}", "", ""}));
  must(store->set_keep(machine_, 77));
  must(store->machine_state(machine_, MachineRowState::kRejected, "steal over 5%"));
  ASSERT_EQ(must(store->live_machines()).size(), 1U) << "rejected is not gone";
  must(store->machine_state(machine_, MachineRowState::kGone));
  MachineRow row = must(store->machine(machine_));
  EXPECT_EQ(row.state, MachineRowState::kGone);
  EXPECT_EQ(row.reason, "steal over 5%");
  EXPECT_EQ(row.provider_id, "id-7");
  ASSERT_TRUE(row.endpoint.has_value());
  EXPECT_EQ(row.endpoint->host, "fe80::1");
  EXPECT_EQ(row.endpoint->port, 2222);
  EXPECT_EQ(row.endpoint->netns, "/run/netns/x");
  EXPECT_EQ(row.host_key, "SHA256:abc");
  EXPECT_EQ(row.agent_dir, "/var/lib/benchctl/runs/r1");
  EXPECT_EQ(row.keep_until_ms, 77);
  MachineFacts facts = must(store->facts(machine_));
  EXPECT_EQ(facts.before, "{\"version\":1}");
  EXPECT_EQ(facts.after, "{\"version\":2}");
  EXPECT_EQ(facts.fingerprint, "f1");
  EXPECT_EQ(row.hardware, "h1");
  EXPECT_TRUE(must(store->live_machines()).empty());
  EXPECT_EQ(must(store->machines("r1")).size(), 1U);
  EXPECT_FALSE(store->machine_facts(machine_, {"{oops", "", "", ""}).ok());
  EXPECT_EQ(store->set_keep(99, 1).error().message, "store: no machine 99");
  EXPECT_FALSE(store->machine(99).ok());
}

TEST_F(StoreTest, StepsArePairsOfIntentAndDone) {
  auto store = open();
  begin(*store);
  int64_t connect = must(store->step_intent(machine_, "connect"));
  EXPECT_EQ(connect, 1);
  EXPECT_EQ(count("SELECT count(*) FROM step WHERE done_ms IS NULL"), 1) << "the intent is durable at once";
  clock_.sleep(std::chrono::milliseconds(1500));
  must(store->step_done(machine_, connect, true, "", 3));
  int64_t round = must(store->step_intent(machine_, "round 1"));
  must(store->step_done(machine_, round, false, "link down", 1));
  must(store->step_intent(machine_, "round 1").ok() ? Status() : Status(Error{}));
  auto steps = must(store->steps(machine_));
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(*steps[0].done_ms - steps[0].intent_ms, 1500);
  EXPECT_TRUE(steps[0].ok);
  EXPECT_EQ(steps[0].channels, 3);
  EXPECT_FALSE(steps[1].ok);
  EXPECT_EQ(steps[1].detail, "link down");
  EXPECT_FALSE(steps[2].done_ms.has_value());
  EXPECT_FALSE(store->step_done(machine_, 9, true, "", 0).ok());
  EXPECT_FALSE(store->step_intent(99, "connect").ok());
}

TEST_F(StoreTest, WhatTrialsReferToIsSavedOnce) {
  auto store = open();
  begin(*store);
  PointRow point{"p1", "s", "request_shape", "sequential", "", "c_sqlite", Json::object()};
  must(store->save_point(point));
  point.baseline = "rust_rusqlite";
  EXPECT_EQ(store->save_point(point).error().message, "point p1 is in the store with other content");
  TraceRow trace{"r1", "s", "c_sqlite", std::string(64, '1'), "{}"};
  must(store->save_trace(trace));
  must(store->save_trace(trace));
  trace.sha256[0] = '2';
  EXPECT_EQ(store->save_trace(trace).error().message, "trace of s, c_sqlite is in the store with other content");
  ASSERT_EQ(must(store->traces("r1")).size(), 1U);
  EXPECT_EQ(must(store->traces("r1"))[0].sha256, std::string(64, '1'));
  must(store->save_bundle({std::string(64, 'b'), "request_shape", "c", Json::object()}));
  must(store->save_bundle({std::string(64, 'b'), "request_shape", "c", Json::object()}));
  EXPECT_FALSE(store->save_bundle({std::string(64, 'b'), "other", "c", Json::object()}).ok());
}

TEST_F(StoreTest, ASecondControllerIsToldWhoHoldsTheStore) {
  auto store = open();
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  pid_t child = fork();
  if (child == 0) {
    auto theirs = open_store({store_path()}, clock_);
    auto lock = theirs.ok() ? (*theirs)->lock("r1") : Result<FileLock>(Error{});
    char byte = lock.ok() ? '1' : '0';
    (void)!write(ready[1], &byte, 1);
    (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, '1');
  auto second = store->lock("r2");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().kind, ErrorKind::kInterrupted);
  char host[256] = "";
  gethostname(host, sizeof host);
  EXPECT_EQ(second.error().message, "store " + store_path() + " is held by run r1, pid " + std::to_string(child) +
                                        " on " + host + ", since 2023-11-14T22:13:20.000Z");
  begin(*store);  // single rows are still written by anyone: `machine keep` while a run is on
  ASSERT_EQ(write(done[1], "x", 1), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(store->lock("r2").ok()) << "the lock goes with its process";
  for (int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
}

// Making the tables, switching to WAL and closing it again all want the whole file for a moment.
TEST_F(StoreTest, ManyProcessesMayOpenAtOnce) {
  for (int round = 0; round < 15; ++round) {
    must(remove_tree(folder_ + "/store"));
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      pid_t child = fork();
      if (child == 0) {
        auto store = open_store({store_path()}, clock_);
        if (!store.ok()) fprintf(stderr, "%s\n", store.error().message.c_str());
        _exit(store.ok() && (*store)->owner().ok() ? 0 : 1);
      }
      children.push_back(child);
    }
    for (pid_t child : children) {
      int status = -1;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(count("SELECT count(*) FROM owner"), 1);
  }
}

TEST_F(StoreTest, ArmsLeftOutAreNamedOnce) {
  auto store = open();
  begin(*store);
  std::vector<LeftOutRow> rows = {{"s", "gleam", "not built", "no compiler"}, {"s", "bun", "another build", "no avx2"}};
  must(store->leave_out(machine_, rows));
  must(store->leave_out(machine_, rows));
  EXPECT_EQ(count("SELECT count(*) FROM v_left_out WHERE run = 'r1' AND suite = 's'"), 2);
  EXPECT_EQ(
      count("SELECT count(*) FROM v_left_out WHERE arm = 'gleam' AND kind = 'not built' AND reason = 'no compiler'"),
      1);
}

TEST_F(StoreTest, ANewerStoreIsRefusedByNameAndVersion) {
  { auto store = open(); }
  {
    auto database = must(sqlite::Database::open(store_path()));
    must(database.exec("PRAGMA user_version=99"));
  }
  auto store = open_store({store_path()}, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(store.error().message, "store " + store_path() +
                                       " has version 99, made by a newer benchctl; this one (" BENCHCTL_VERSION
                                       ") knows version " +
                                       std::to_string(kVersion) + " and older: update benchctl");
}

TEST_F(StoreTest, AForeignDatabaseIsRefusedUntouched) {
  must(make_dirs(folder_ + "/store"));
  {
    auto database = must(sqlite::Database::open(store_path()));
    must(database.exec("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)"));
  }
  auto store = open_store({store_path()}, clock_);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().message, store_path() + " is an SQLite database, but not a store of benchctl");
  EXPECT_EQ(count("SELECT count(*) FROM sqlite_schema"), 1);
}

TEST_F(StoreTest, AMigrationCopiesFirstAndWaitsForLiveRuns) {
  {
    auto store = open();
    begin(*store);
  }
  std::vector<Migration> next = store_migrations();
  next.push_back({kVersion + 1, "ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT ''"});
  {
    auto old = open();
    auto live = must(old->lock("r1"));
    auto early = SqliteStore::open({store_path()}, clock_, next);
    ASSERT_FALSE(early.ok());
    EXPECT_EQ(early.error().kind, ErrorKind::kInterrupted);
    EXPECT_TRUE(early.error().message.starts_with("migration waits until no run is live: store "))
        << early.error().message;
    EXPECT_FALSE(exists(store_path() + kOldCopy));
  }
  must(write_atomic(store_path() + kOldCopy, "left behind by an attempt that was cut short"));
  {
    auto store = must(SqliteStore::open({store_path()}, clock_, next));
    EXPECT_EQ(must(store->run("r1")).plan_name, "local");
    EXPECT_TRUE(store->lock("r1").ok()) << "the migration's own lock is gone";
  }
  EXPECT_EQ(count("PRAGMA user_version"), kVersion + 1);
  EXPECT_EQ(mode_of(store_path() + kOldCopy), 0600U);
  auto copy = must(sqlite::Database::open(store_path() + kOldCopy));
  EXPECT_EQ(must(copy.integer("PRAGMA user_version")), kVersion);
  EXPECT_EQ(must(copy.integer("SELECT count(*) FROM run")), 1);
  EXPECT_FALSE(open_store({store_path()}, clock_).ok()) << "the older code refuses it";
}

TEST_F(StoreTest, AFailedMigrationLeavesTheOldStore) {
  {
    auto store = open();
    begin(*store);
  }
  std::vector<Migration> next = store_migrations();
  next.push_back({kVersion + 1, "ALTER TABLE run ADD COLUMN note TEXT; ALTER TABLE nothing ADD COLUMN x TEXT"});
  auto failed = SqliteStore::open({store_path()}, clock_, next);
  ASSERT_FALSE(failed.ok());
  EXPECT_TRUE(
      failed.error().message.starts_with("migration of the store to version " + std::to_string(kVersion + 1) + ": "))
      << failed.error().message;
  EXPECT_EQ(count("PRAGMA user_version"), kVersion);
  EXPECT_EQ(count("SELECT count(*) FROM pragma_table_info('run') WHERE name = 'note'"), 0);
  EXPECT_TRUE(open_store({store_path()}, clock_).ok());
}

TEST_F(StoreTest, DamageIsFoundAtOpenAndTheWayBackIsNamed) {
  {
    auto store = open();
    begin(*store);
    for (int i = 0; i < 100; ++i) must(store->save_bundle({std::to_string(i), "w", "b", Json(std::string(4000, 'm'))}));
  }
  std::string bytes = must(read_file(store_path()));
  ASSERT_GT(bytes.size(), 100'000U);
  for (size_t at = bytes.size() / 2; at < bytes.size() / 2 + 20'000; ++at) bytes[at] = '\x55';
  must(write_atomic(store_path(), bytes));
  auto damaged = open_store({store_path()}, clock_);
  ASSERT_FALSE(damaged.ok());
  EXPECT_TRUE(damaged.error().message.starts_with("store " + store_path() + " is damaged ("))
      << damaged.error().message;
  EXPECT_TRUE(damaged.error().message.ends_with(
      "): move it away, and a new one is begun; the raw files in the run folders hold "
      "every result"))
      << damaged.error().message;
  must(write_atomic(store_path(), std::string(10'000, 'x')));
  damaged = open_store({store_path()}, clock_);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().message, "store " + store_path() +
                                         " is damaged (file is not a database): move it away, and a new one is begun; "
                                         "the raw files in the run folders "
                                         "hold every result");
}

TEST_F(StoreTest, AFailedTransactionLeavesNothing) {
  auto store = open();
  begin(*store);
  must(remove_tree(run_folder()));
  must(write_atomic(run_folder(), "a file in the place of the run's folder"));
  EXPECT_FALSE(store->machine_state(machine_, MachineRowState::kGone).ok()) << "its record cannot be written";
  EXPECT_EQ(text("SELECT state FROM machine"), "intent");
}

}  // namespace
}  // namespace benchctl
