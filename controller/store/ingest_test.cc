#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <map>
#include <random>

#include "controller/store/store_test_support.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

using Ingest = StoreFixture;

TEST_F(Ingest, AUnitComesInOnceHoweverOftenItIsImported) {
  auto store = open();
  begin(*store);
  TrialSpec one = spec(1, 1), two = spec(2, 1);
  put_trial("round-0001", record(one), kTwoRows);
  put_trial("round-0001", record(two, "timeout"), "half a r");
  put("round-0001", "facts.before.json", "{}");
  UnitResult first = must(store->import_unit(machine_, source("round-0001", {one, two})));
  EXPECT_EQ(first.trials_new, 2);
  EXPECT_EQ(first.samples_new, 4);
  EXPECT_TRUE(first.malformed.empty());
  EXPECT_TRUE(first.refused.empty());
  EXPECT_EQ(count("SELECT count(*) FROM v_samples"), 4);
  EXPECT_EQ(count("SELECT count(*) FROM v_samples s JOIN v_trials t USING (trial_id) WHERE t.verdict <> 'ok'"), 0);
  EXPECT_EQ(text("SELECT check_text FROM v_samples WHERE case_name = 'c/app/update' AND metric = 'total'"),
            "18446744073709551615");
  EXPECT_EQ(count("SELECT count(*) FROM file"), 7);
  EXPECT_EQ(text("SELECT folder FROM v_trials WHERE number = 1"), "m1/round-0001/trials/000001/a1");
  UnitResult again = must(store->import_unit(machine_, source("round-0001", {one, two})));
  EXPECT_EQ(again.trials_new, 0);
  EXPECT_EQ(again.trials_same, 2);
  EXPECT_EQ(again.samples_new, 0);
  EXPECT_TRUE(again.refused.empty());
  EXPECT_EQ(count("SELECT count(*) FROM sample"), 4);
  EXPECT_EQ(count("SELECT count(*) FROM file"), 7);
  EXPECT_EQ(must(store->units(machine_)), std::vector<std::string>{"round-0001"});
}

TEST_F(Ingest, TrialsAndVerdictsCanBeAskedFor) {
  auto store = open();
  begin(*store);
  TrialSpec warm = spec(1, 0), good = spec(2, 1), bad = spec(3, 1);
  bad.point = "workers=4";
  bad.aa_copy = true;
  put_trial("round-w000", record(warm), kTwoRows);
  TrialRecord failed = record(bad, "signal");
  failed.reason = "killed by SIGSEGV\x1b[2J";
  failed.steal_percent.reset();
  failed.steal_note = "too short";
  put_trial("round-0001", record(good), kTwoRows);
  put_trial("round-0001", failed, "");
  must(store->import_unit(machine_, source("round-w000", {warm})));
  must(store->import_unit(machine_, source("round-0001", {warm, good, bad})));
  auto trials = must(store->trials("r1"));
  ASSERT_EQ(trials.size(), 3U);
  EXPECT_EQ(trials[0].round, 0);
  EXPECT_EQ(trials[1].steal_percent, 0.25);
  EXPECT_EQ(trials[1].seconds, 1.5);
  EXPECT_EQ(trials[2].verdict, "signal");
  EXPECT_EQ(trials[2].reason, "killed by SIGSEGV\\x1b[2J");
  EXPECT_TRUE(trials[2].aa_copy);
  EXPECT_FALSE(trials[2].steal_percent.has_value());
  EXPECT_EQ(text("SELECT steal_note FROM v_trials WHERE number = 3"), "too short");
  auto verdicts = must(store->verdicts("r1"));
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(verdicts[0].verdict, "ok");
  EXPECT_FALSE(verdicts[0].scored);
  EXPECT_EQ(verdicts[1].trials, 1);
  EXPECT_EQ(verdicts[2].verdict, "signal");
  EXPECT_EQ(must(store->units(machine_)), (std::vector<std::string>{"round-w000", "round-0001"}));
  EXPECT_EQ(count("SELECT count(*) FROM v_history"), 4) << "the warm-up is not in the history";
}

TEST_F(Ingest, MalformedOutputIsKeptAsEvidenceWithoutSamples) {
  auto store = open();
  begin(*store);
  TrialSpec bad = spec(42, 1), good = spec(43, 1), empty = spec(44, 1), hist = spec(45, 1, "concurrent");
  put_trial("u", record(bad), std::string(kTwoRows) + "c/half,1,2");
  put_trial("u", record(good), kTwoRows);
  put_trial("u", record(empty), "");
  put_trial("u", record(hist),
            "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us\nc/read,4,5,9,1,1,1,1,1\n",
            {{"out/c_read.hist.csv", "bucket_us,count\n1,1\n0.5,1\n"}});
  UnitResult result = must(store->import_unit(machine_, source("u", {bad, good, empty, hist})));
  EXPECT_EQ(result.trials_new, 4);
  EXPECT_EQ(result.samples_new, 4);
  ASSERT_EQ(result.malformed.size(), 3U);
  EXPECT_EQ(result.malformed[0].trial, 42);
  EXPECT_EQ(result.malformed[0].reason, "trials/000042/a1/stdout:4: no line end: the output was cut");
  EXPECT_EQ(result.malformed[1].reason, "trials/000044/a1/stdout:1: nothing was printed");
  EXPECT_EQ(result.malformed[2].reason, "trials/000045/a1/out/c_read.hist.csv:3: buckets do not rise");
  EXPECT_EQ(text("SELECT verdict || ' ' || reason FROM v_trials WHERE number = 42"),
            "malformed trials/000042/a1/stdout:4: no line end: the output was cut");
  EXPECT_EQ(count("SELECT count(*) FROM v_samples JOIN v_trials USING (trial_id) WHERE number <> 43"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM file WHERE path LIKE 'm1/u/trials/000042/a1/%'"), 3) << "evidence is kept";
}

TEST_F(Ingest, WhatTraceAndInfoPrintIsEvidenceAndNoMeasurement) {
  auto store = open();
  begin(*store);
  TrialSpec trace = spec(1, -1000, "trace"), info = spec(2, -999, "info"), silent = spec(3, -999, "info");
  put_trial("u", record(trace), "staff_by_id\tSELECT 1\n");
  put_trial("u", record(info), "{\"runner\":\"c\"}");
  put_trial("u", record(silent), "");
  UnitResult result = must(store->import_unit(machine_, source("u", {trace, info, silent})));
  EXPECT_EQ(result.trials_new, 3);
  EXPECT_EQ(result.samples_new, 0);
  ASSERT_EQ(result.malformed.size(), 1U);
  EXPECT_EQ(result.malformed[0].reason, "trials/000003/a1/stdout: nothing was printed");
}

TEST_F(Ingest, AnOkTrialWithoutOutputFileIsMalformed) {
  auto store = open();
  begin(*store);
  put("u", "trials/000001/a1/trial.json", to_json(record(spec(1, 1))).dump());
  UnitResult result = must(store->import_unit(machine_, source("u", {spec(1, 1)})));
  ASSERT_EQ(result.malformed.size(), 1U);
  EXPECT_EQ(result.malformed[0].reason, "trials/000001/a1/stdout: missing");
}

TEST_F(Ingest, HistogramsAreFiledUnderTheirCase) {
  auto store = open();
  begin(*store);
  TrialSpec one = spec(1, 1, "concurrent");
  put_trial("u", record(one),
            "case,workers,seconds,requests,requests_per_second,p50_us,p95_us,p99_us,max_us\nc/read,4,5,9,1,1,1,1,1\n",
            {{"out/c_read.hist.csv", "bucket_us,count\n1,9\n"}, {"out/other.hist.csv", "bucket_us,count\n"}});
  must(store->import_unit(machine_, source("u", {one})));
  EXPECT_EQ(text("SELECT file FROM histogram JOIN name ON name.id = case_id WHERE text = 'c/read'"),
            "m1/u/trials/000001/a1/out/c_read.hist.csv");
  EXPECT_EQ(count("SELECT count(*) FROM histogram JOIN name ON name.id = case_id WHERE text = 'other'"), 1);
  EXPECT_EQ(count("SELECT count(*) FROM v_samples WHERE metric = 'errors' AND value IS NULL"), 1);
}

TEST_F(Ingest, WhatThePlanDidNotAskForIsRefusedAndTheRestComesIn) {
  auto store = open();
  begin(*store);
  TrialSpec good = spec(1, 1);
  put_trial("u", record(good), kTwoRows);
  std::vector<std::string> expected;
  auto refuse = [&](int64_t number, TrialRecord said, const std::string& reason) {
    put_trial("u", said, kTwoRows);
    expected.push_back("trials/00000" + std::to_string(number) + "/a1" + reason);
  };
  refuse(2, record(spec(2, 1)), ": no such trial in the plan");
  TrialRecord said = record(spec(3, 1));
  said.spec.arm = "rival\n";
  refuse(3, said, "/trial.json: arm is \"rival\\n\", the plan says \"arm3\"");
  said = record(spec(4, 1));
  said.spec.round = 2;
  refuse(4, said, "/trial.json: round is 2, the plan says 1");
  said = record(spec(5, 1));
  said.spec.params["items"] = "1";
  refuse(5, said, "/trial.json: params is {\"items\":\"1\"}, the plan says {\"items\":\"10000\"}");
  said = record(spec(6, 1));
  said.exit_code = 3;
  refuse(6, said, "/trial.json: verdict ok with exit code 3");
  said = record(spec(7, 1));
  said.steal_percent = 1000;
  refuse(7, said, "/trial.json: a steal_percent outside 0..100");
  refuse(8, record(spec(8, 1), "malformed"), "/trial.json: \"malformed\" is no verdict of an agent");
  refuse(9, record(spec(9, 1), "ok\x1b"), "/trial.json: \"ok\\x1b\" is no verdict of an agent");
  std::vector<TrialSpec> specs = {good};
  for (int64_t number = 3; number <= 9; ++number) specs.push_back(spec(number, 1));
  UnitResult result = must(store->import_unit(machine_, source("u", specs)));
  EXPECT_EQ(result.trials_new, 1);
  ASSERT_EQ(result.refused.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(result.refused[i].reason, expected[i]);
  EXPECT_EQ(count("SELECT count(*) FROM trial"), 1);
  EXPECT_EQ(count("SELECT count(*) FROM file"), 3);
}

TEST_F(Ingest, HostileTrialJson) {
  auto store = open();
  begin(*store);
  std::vector<TrialSpec> specs = {spec(1, 1), spec(2, 1), spec(3, 1), spec(4, 1), spec(5, 1)};
  put_trial("u", record(specs[0]), kTwoRows);
  put("u", "trials/000001/a1/trial.json", std::string(2 << 20, ' '));
  put_trial("u", record(specs[1]), kTwoRows);
  put("u", "trials/000002/a1/trial.json", std::string(5000, '['));
  put("u", "trials/000003/a1/stdout", kTwoRows);
  put_trial("u", record(specs[3]), kTwoRows);
  Json negative = to_json(record(specs[3]));
  negative.set("wall_ns", -5);
  put("u", "trials/000004/a1/trial.json", negative.dump());
  put_trial("u", record(specs[4]), kTwoRows);
  put("u", "trials/5/a1/trial.json", "{}");
  put("u", "trials/000005/a01/trial.json", "{}");
  put("u", "trials/000005/x", "{}");
  UnitResult result = must(store->import_unit(machine_, source("u", specs)));
  EXPECT_EQ(result.trials_new, 1);
  ASSERT_EQ(result.refused.size(), 7U);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(result.refused[static_cast<size_t>(i)].reason.ends_with(": not a file of a trial"));
  EXPECT_EQ(result.refused[3].reason, "trials/000001/a1/trial.json: larger than the limit of 1.0 MiB");
  EXPECT_TRUE(result.refused[4].reason.starts_with("trials/000002/a1/trial.json: ")) << result.refused[4].reason;
  EXPECT_EQ(result.refused[5].reason, "trials/000003/a1/trial.json: missing");
  EXPECT_EQ(result.refused[6].reason, "trials/000004/a1/trial.json: trial.json with a negative wall_ns");
}

TEST_F(Ingest, OtherContentUnderTheSameTrialIsRefusedAndTheFirstStands) {
  auto store = open();
  begin(*store);
  TrialSpec one = spec(1, 1), two = spec(2, 1);
  put_trial("u", record(one), kTwoRows);
  put("u", "steal.csv", "a\n");
  must(store->import_unit(machine_, source("u", {one})));
  put("u", "trials/000001/a1/stdout", "case,items,micros,us_per_item,check\nc/app/edit,10000,1,0.001,1\n");
  put("u", "steal.csv", "b\n");
  put_trial("u", record(two), kTwoRows);
  UnitResult result = must(store->import_unit(machine_, source("u", {one, two})));
  EXPECT_EQ(result.trials_new, 1) << "the rest of the unit comes in";
  ASSERT_EQ(result.refused.size(), 2U);
  EXPECT_EQ(result.refused[0].reason,
            "trials/000001/a1: already in the store with other content; the first one stands");
  EXPECT_EQ(result.refused[1].reason, "steal.csv: already in the store with other content; the first one stands");
  EXPECT_EQ(count("SELECT count(*) FROM sample"), 8);
  EXPECT_EQ(count("SELECT count(*) FROM v_samples WHERE value = 63210"), 2);
  EXPECT_EQ(count("SELECT count(*) FROM v_samples WHERE value = 1"), 0);
  // The same measurement under another number is as refused: one arm, one round, one attempt.
  TrialSpec again = spec(7, 1);
  again.arm = one.arm;
  put_trial("v", record(again), kTwoRows);
  result = must(store->import_unit(machine_, source("v", {again})));
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(result.refused[0].trial, 7);
}

TEST_F(Ingest, ARepeatIsAnotherAttempt) {
  auto store = open();
  begin(*store);
  TrialSpec one = spec(1, 1), repeat = one;
  repeat.attempt = 2;
  put_trial("u", record(one), kTwoRows);
  put_trial("v", record(repeat), kTwoRows);
  must(store->import_unit(machine_, source("u", {one})));
  UnitResult result = must(store->import_unit(machine_, source("v", {one})));
  EXPECT_EQ(result.trials_new, 1);
  EXPECT_EQ(must(store->trials("r1"))[1].attempt, 2);
}

TEST_F(Ingest, AFileThatDiffersFromItsManifestStopsTheUnit) {
  auto store = open();
  begin(*store);
  TrialSpec one = spec(1, 1), two = spec(2, 1);
  put_trial("u", record(one), kTwoRows);
  put_trial("u", record(two), kTwoRows);
  UnitSource unit = source("u", {one, two});
  unit.entries = must(scan_tree(unit.folder, {}));
  const std::string path = unit_folder("u") + "/trials/000002/a1/stdout";
  const std::string differs = "trials/000002/a1/stdout: differs from the manifest it came with; pull the unit again";
  must(write_atomic(path, std::string(kTwoRows) + "x,1,1,1,1\n"));
  EXPECT_EQ(store->import_unit(machine_, unit).error().message, differs);
  std::string changed = kTwoRows;
  changed[changed.size() - 2] ^= 1;
  must(write_atomic(path, changed));
  EXPECT_EQ(store->import_unit(machine_, unit).error().message, differs);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("../../000001/a1/stdout", path.c_str()), 0);
  EXPECT_FALSE(store->import_unit(machine_, unit).ok()) << "a link is not followed";
  EXPECT_EQ(count("SELECT count(*) FROM trial"), 0);
  EXPECT_EQ(count("SELECT count(*) FROM sample"), 0);
  ASSERT_EQ(unlink(path.c_str()), 0);
  must(write_atomic(path, kTwoRows));
  EXPECT_EQ(must(store->import_unit(machine_, unit)).trials_new, 2);
}

TEST_F(Ingest, UnitsOutsideTheRunAndUnsavedPointsAreRefused) {
  auto store = open();
  begin(*store);
  put_trial("u", record(spec(1, 1)), kTwoRows);
  UnitSource unit = source("u", {spec(1, 1)});
  unit.folder = folder_ + "/elsewhere";
  EXPECT_FALSE(store->import_unit(machine_, unit).ok());
  unit.folder = run_folder() + "/../runs/r1/m1/u";
  EXPECT_FALSE(store->import_unit(machine_, unit).ok());
  unit = source("../u", {spec(1, 1)});
  EXPECT_FALSE(store->import_unit(machine_, unit).ok());
  unit = source("u", {spec(1, 1)});
  unit.expected[0].point_hash = "never-saved";
  EXPECT_FALSE(store->import_unit(machine_, unit).ok());
  EXPECT_FALSE(store->import_unit(machine_ + 1, source("u", {spec(1, 1)})).ok());
  EXPECT_EQ(count("SELECT count(*) FROM trial"), 0);
}

// A child imports and is killed at a named place, or at a random moment; the parent finds a sound store and finishes.
TEST_F(Ingest, KilledInMidImportNothingIsLostOrDoubled) {
  std::vector<TrialSpec> specs;
  {
    auto store = open();
    begin(*store);
  }
  for (int64_t number = 1; number <= 12; ++number) {
    specs.push_back(spec(number, 1));
    std::string output = "case,items,micros,us_per_item,check\n";
    for (int row = 0; row < 500; ++row) output += "c/" + std::to_string(row) + ",10,20,2,7\n";
    put_trial("u", record(specs.back()), output);
  }
  int killed = 0;
  auto import_in_child = [&](const std::string& place, int kill_after_us) {
    pid_t child = fork();
    if (child == 0) {
      KillAt failpoints(place);
      auto store = open_store({store_path(), &failpoints}, clock_);
      bool good = store.ok() && (*store)->import_unit(machine_, source("u", specs)).ok();
      _exit(good ? 0 : 1);
    }
    if (kill_after_us > 0) {
      usleep(static_cast<useconds_t>(kill_after_us));
      kill(child, SIGKILL);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
    killed += WIFSIGNALED(status) ? 1 : 0;
    auto store = open();  // quick_check
    int64_t trials = count("SELECT count(*) FROM trial");
    EXPECT_TRUE(trials == 0 || trials == 12) << trials;
    EXPECT_EQ(count("SELECT count(*) FROM sample"), trials * 1000);
    EXPECT_EQ(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    return trials;
  };
  EXPECT_EQ(import_in_child("import:begin", 0), 0);
  EXPECT_EQ(import_in_child("import:trial#1", 0), 0);
  EXPECT_EQ(import_in_child("import:trial#12", 0), 0);
  EXPECT_EQ(import_in_child("import:commit", 0), 0);
  EXPECT_EQ(killed, 4);
  for (int microseconds : {500, 2000, 5000, 9000, 13'000, 17'000, 21'000, 25'000})
    import_in_child("none", microseconds);
  EXPECT_EQ(import_in_child("import:committed", 0), 12);
  EXPECT_GE(killed, 5);
  auto store = open();
  UnitResult result = must(store->import_unit(machine_, source("u", specs)));
  EXPECT_EQ(result.trials_same, 12);
  EXPECT_EQ(count("SELECT count(*) FROM sample"), 12'000);
  EXPECT_EQ(count("SELECT count(*) FROM (SELECT DISTINCT trial_id, case_name, metric, iteration FROM v_samples)"),
            12'000);
}

TEST_F(Ingest, AFullDiskIsNamedAndEarlierDataStand) {
  std::string disk = folder_ + "/store";
  must(make_dirs(disk));
  if (geteuid() != 0 || mount("tmpfs", disk.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=2m,mode=700") != 0)
    GTEST_SKIP() << "needs root to mount a small file system";
  std::vector<TrialSpec> specs;
  std::string message;
  int64_t before = 0, after = 0;
  bool still_works = false;
  {
    auto store = open();
    begin(*store);
    TrialSpec small = spec(99, 2);
    put_trial("first", record(small), kTwoRows);
    must(store->import_unit(machine_, source("first", {small})));
    before = count("SELECT count(*) FROM sample");
    for (int64_t number = 1; number <= 8; ++number) {
      specs.push_back(spec(number, 1));
      std::string output = "case,items,micros,us_per_item,check\n";
      for (int row = 0; row < 20'000; ++row) output += "case/of/the/row/" + std::to_string(row) + ",10,20,2,7\n";
      put_trial("big", record(specs.back()), output);
    }
    auto full = store->import_unit(machine_, source("big", specs));
    EXPECT_FALSE(full.ok());
    if (!full.ok()) message = full.error().message;
    after = count("SELECT count(*) FROM sample");
    still_works = store->import_unit(machine_, source("first", {small})).ok();
    EXPECT_EQ(must(store->units(machine_)), std::vector<std::string>{"first"});
  }
  {
    auto again = open();
    EXPECT_EQ(must(again->trials("r1")).size(), 1U);
  }
  ASSERT_EQ(umount(disk.c_str()), 0);
  EXPECT_EQ(message, "store " + store_path() +
                         ": no space left on its disk; nothing of this step was stored and what was stored before "
                         "stands: free some space and run again");
  EXPECT_EQ(before, 4);
  EXPECT_EQ(after, 4);
  EXPECT_TRUE(still_works);
}

std::string shortest(double value) {
  char text[64];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

// What stands in the store is, bit for bit, what was printed: read back through the documented view.
TEST_F(Ingest, EverySampleEqualsTheRawCsv) {
  std::mt19937_64 random(42);
  auto store = open();
  begin(*store);
  std::map<std::string, double> printed;
  std::map<std::string, std::string> checks;
  std::vector<TrialSpec> specs;
  for (int64_t number = 1; number <= 40; ++number) {
    specs.push_back(spec(number, 1));
    std::string output = "case,items,micros,us_per_item,check\n";
    for (uint64_t row = 0, rows = 1 + random() % 40; row < rows; ++row) {
      double total = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60) - 60);
      double per_item = std::ldexp(static_cast<double>(random() >> 11), -40);
      std::string name = "c/" + std::to_string(row), check = std::to_string(static_cast<int64_t>(random()));
      output += name + ",10," + shortest(total) + "," + shortest(per_item) + "," + check + "\n";
      std::string key = std::to_string(number) + " " + name + " ";
      printed[key + "total"] = total;
      printed[key + "per_item"] = per_item;
      checks[key + "total"] = checks[key + "per_item"] = check;
    }
    put_trial("u", record(specs.back()), output);
  }
  must(store->import_unit(machine_, source("u", specs)));
  auto database = must(sqlite::Database::open(store_path()));
  auto select =
      must(database.prepare("SELECT number, case_name, metric, value, check_text, iteration FROM v_samples JOIN "
                            "v_trials USING (trial_id)"));
  size_t rows = 0;
  while (must(select.step())) {
    std::string key = select.text(0) + " " + select.text(1) + " " + select.text(2);
    ASSERT_TRUE(printed.count(key)) << key;
    ASSERT_EQ(select.real(3), printed[key]) << key;
    ASSERT_EQ(select.text(4), checks[key]) << key;
    ASSERT_EQ(select.integer(5), 0);
    ++rows;
  }
  EXPECT_EQ(rows, printed.size());
  EXPECT_GT(rows, 500U);
}

TEST_F(Ingest, OneMetricNameWithTwoUnitsIsTwoMetrics) {
  auto store = open();
  begin(*store);
  TrialSpec one = spec(1, 1, "generic"), two = spec(2, 1, "generic");
  put_trial("u", record(one), "case,metric,unit,value,better,check\na,time,ms,5,lower,\n");
  put_trial("u", record(two),
            "case,metric,unit,value,better,check\na,time,s,5,lower,\na,time2,s,1,lower,\na,time2,s,3,lower,\n");
  EXPECT_EQ(must(store->import_unit(machine_, source("u", {one, two}))).samples_new, 5);
  EXPECT_EQ(text("SELECT group_concat(unit) FROM (SELECT unit FROM v_samples WHERE metric = 'time' ORDER BY unit)"),
            "ms,s");
  EXPECT_EQ(
      text("SELECT group_concat(value) FROM (SELECT value FROM v_samples WHERE metric = 'time2' ORDER BY iteration)"),
      "2.0,1.0,3.0");
}

TEST_F(Ingest, ARunIsRebuiltFromItsFolder) {
  TrialSpec one = spec(1, 1), two = spec(2, 1), three = spec(3, 2);
  std::string owner, fingerprint;
  {
    auto store = open();
    begin(*store);
    owner = must(store->owner());
    must(store->machine_created(machine_, "id-7", std::nullopt));
    must(store->machine_facts(machine_, {"{}", "", "f1", "h1"}));
    must(store->step_done(machine_, must(store->step_intent(machine_, "connect")), true, "", 2));
    must(store->save_trace({"r1", "s", "arm1", std::string(64, '1'), "{}"}));
    put_trial("round-0001", record(one), kTwoRows);
    put_trial("round-0001", record(two), "oops\n");
    put_trial("round-0002", record(three), kTwoRows);
    must(store->import_unit(machine_, source("round-0001", {one, two})));
    must(store->import_unit(machine_, source("round-0002", {three})));
    must(store->machine_state(machine_, MachineRowState::kGone));
    must(store->finish_run("r1", RunOutcome::kFailed, 6, "malformed"));
  }
  const char* all =
      "SELECT group_concat(number || verdict || case_name || metric || value || check_text || machine || suite || "
      "point_hash || started_ms || t.record || t.folder, x'0a') FROM (SELECT * FROM v_samples ORDER BY 1, 2, 3) JOIN "
      "v_trials t USING (trial_id)";
  std::string before = text(all);
  ASSERT_FALSE(before.empty());
  must(remove_tree(folder_ + "/store"));
  auto store = open();
  ASSERT_NE(must(store->owner()), owner);
  RebuildResult rebuilt = must(store->rebuild_run(run_folder()));
  EXPECT_EQ(rebuilt.run, "r1");
  EXPECT_EQ(rebuilt.units, 2);
  EXPECT_EQ(rebuilt.trials.trials_new, 3);
  EXPECT_EQ(rebuilt.trials.malformed.size(), 1U);
  EXPECT_TRUE(rebuilt.trials.refused.empty());
  EXPECT_EQ(text(all), before);
  EXPECT_EQ(must(store->owner()), owner) << "its machines stay ours";
  EXPECT_EQ(must(store->run("r1")).exit_code, 6);
  EXPECT_EQ(must(store->machines("r1"))[0].state, MachineRowState::kGone);
  EXPECT_EQ(must(store->machines("r1"))[0].provider_id, "id-7");
  EXPECT_EQ(must(store->steps(1)).size(), 1U);
  EXPECT_EQ(must(store->traces("r1")).size(), 1U);
  RebuildResult again = must(store->rebuild_run(run_folder()));
  EXPECT_EQ(again.trials.trials_new, 0);
  EXPECT_EQ(again.trials.trials_same, 3);
  EXPECT_EQ(text(all), before);
}

TEST_F(Ingest, ARebuildNamesWhatWasChangedSince) {
  TrialSpec one = spec(1, 1), two = spec(2, 1);
  {
    auto store = open();
    begin(*store);
    put_trial("u", record(one), kTwoRows);
    put_trial("u", record(two), kTwoRows);
    must(store->import_unit(machine_, source("u", {one, two})));
  }
  must(remove_tree(folder_ + "/store"));
  put("u", "trials/000002/a1/stderr", "added later");
  auto store = open();
  RebuildResult rebuilt = must(store->rebuild_run(run_folder()));
  EXPECT_EQ(rebuilt.trials.trials_new, 1);
  ASSERT_EQ(rebuilt.trials.refused.size(), 1U);
  EXPECT_EQ(rebuilt.trials.refused[0].trial, 2);
  EXPECT_EQ(rebuilt.trials.refused[0].reason, "trials/000002/a1/stderr: missing or changed since it was pulled");
}

}  // namespace
}  // namespace benchctl
