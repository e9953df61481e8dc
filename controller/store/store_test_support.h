// A store in a folder of its own, with one run and one machine, and raw trials made by the line.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/store/sqlite.h"
#include "controller/store/store.h"
#include "lib/files.h"
#include "lib/text.h"
#include "lib/wire/trial.h"

namespace benchctl {

inline const char* const kTwoRows =
    "case,items,micros,us_per_item,check\n"
    "c/app/edit,10000,63210,6.321,-9223372036854775808\n"
    "c/app/update,10000,91000,9.100,18446744073709551615\n";

template <typename T>
T must(Result<T> result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  if (!result.ok()) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

inline void must(const Status& status) {
  ASSERT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
}

struct RawFile {
  std::string path, content;
};

class StoreFixture : public ::testing::Test {
 protected:
  StoreFixture() : folder_("/tmp/benchctl-store-test-" + random_hex(6)) { must(make_dirs(folder_)); }
  ~StoreFixture() override { EXPECT_TRUE(remove_tree(folder_).ok()); }

  std::string store_path() const { return folder_ + "/store/store.db"; }
  std::string run_folder() const { return folder_ + "/runs/r1"; }

  std::unique_ptr<Store> open(Failpoints* failpoints = nullptr) {
    return must(open_store({store_path(), failpoints}, clock_));
  }

  void begin(Store& store) {
    RunRow run;
    run.id = "r1";
    run.plan_name = "local";
    run.plan_sha256 = std::string(64, 'a');
    run.plan_text = "schema = 1\n";
    run.seed = 42;
    run.created_ms = clock_.unix_ms();
    run.folder = run_folder();
    run.controller_version = "0.1.0";
    must(store.begin_run(run));
    Lease lease{"abc123def456", "r1", must(store.owner()), "small", 0, "bc-abc123def456", 2'000'000'000};
    MachineSpec spec{"nspawn", "small", {}, "", "debian-12", "x86_64", {{"cpus", "0-1"}}};
    machine_ = must(store.add_lease(lease, spec, false));
    must(store.save_point({"p1", "s", "request_shape", "sequential", "", "c_sqlite", Json::object()}));
  }

  static TrialSpec spec(int64_t number, int round, const std::string& format = "sequential") {
    TrialSpec spec;
    spec.trial = number;
    spec.suite = "s";
    spec.arm = "arm" + std::to_string(number);
    spec.round = round;
    spec.format = format;
    spec.definition_hash = "d1";
    spec.params = {{"items", "10000"}};
    spec.bundle = std::string(64, 'b');
    spec.phases = {{"run", {"bin/c_sqlite", "--items", "10000"}}};
    spec.timeout_ms = 1000;
    return spec;
  }

  static TrialRecord record(const TrialSpec& spec, const std::string& verdict = "ok") {
    TrialRecord record;
    record.spec = spec;
    record.verdict = verdict;
    record.exit_code = verdict == "ok" ? 0 : 1;
    record.started_unix_ms = 1'700'000'000'000;
    record.wall_ns = 1'500'000'000;
    record.steal_percent = 0.25;
    return record;
  }

  static std::string trial_dir(const TrialSpec& spec) {
    char name[64];
    std::snprintf(name, sizeof name, "trials/%06d/a%d", static_cast<int>(spec.trial), spec.attempt);
    return name;
  }

  void put(const std::string& unit, const std::string& path, const std::string& content) {
    std::string full = unit_folder(unit) + "/" + path;
    must(make_dirs(full.substr(0, full.rfind('/'))));
    must(write_atomic(full, content));
  }

  void put_trial(const std::string& unit, const TrialRecord& record, const std::string& output,
                 const std::vector<RawFile>& more = {}) {
    std::string dir = trial_dir(record.spec);
    put(unit, dir + "/trial.json", to_json(record).dump());
    put(unit, dir + "/stdout", output);
    put(unit, dir + "/stderr", "");
    for (const RawFile& file : more) put(unit, dir + "/" + file.path, file.content);
  }

  std::string unit_folder(const std::string& unit) const { return run_folder() + "/m1/" + unit; }

  UnitSource source(const std::string& unit, const std::vector<TrialSpec>& specs) const {
    UnitSource source{unit, unit_folder(unit), {}, {}};
    for (const TrialSpec& spec : specs) source.expected.push_back({spec, "p1"});
    return source;
  }

  // The numbers that a second connection sees: what is really on the disk.
  int64_t count(const std::string& sql) { return must(must(sqlite::Database::open(store_path())).integer(sql)); }
  std::string text(const std::string& sql) { return must(must(sqlite::Database::open(store_path())).text(sql)); }

  std::string folder_;
  FakeClock clock_;
  int64_t machine_ = 0;
};

}  // namespace benchctl
