// One million generic rows in 2,880 groups of case and trial: our import (hashes, strict parse, dictionary, keys, WAL)
// beside `sqlite3 .import` of the same text into a bare table, in one run. Prints CPU seconds and their ratio. Nothing
// is gated here.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "controller/store/store.h"
#include "lib/files.h"
#include "lib/text.h"
#include "lib/wire/trial.h"

namespace benchctl {
namespace {

constexpr int kTrials = 10, kRows = 100'000, kCases = 288;

double cpu_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TrialSpec spec_of(int number) {
  TrialSpec spec;
  spec.trial = number;
  spec.suite = "s";
  spec.arm = "arm" + std::to_string(number);
  spec.round = 1;
  spec.format = "generic";
  spec.phases = {{"run", {"x"}}};
  spec.timeout_ms = 1000;
  return spec;
}

std::string rows_of(int trial) {
  std::string rows;
  for (int i = 0; i < kRows; ++i)
    rows += "suite/case/" + std::to_string(i % kCases) + ",time,us," + std::to_string(trial * 1000 + i) +
            ".25,lower,12345678901234567\n";
  return rows;
}

Status bench(const std::string& folder) {
  SystemClock clock;
  const std::string header = "case,metric,unit,value,better,check\n", run_folder = folder + "/run",
                    unit = run_folder + "/u";
  UnitSource source{"u", unit, {}, {}};
  std::string flat = header;
  for (int number = 1; number <= kTrials; ++number) {
    char dir[64];
    std::snprintf(dir, sizeof dir, "/trials/%06d/a1", number);
    BENCHCTL_CHECK(make_dirs(unit + dir));
    std::string rows = rows_of(number);
    BENCHCTL_CHECK(write_atomic(unit + dir + "/stdout", header + rows));
    flat += rows;
    TrialRecord record;
    record.spec = spec_of(number);
    record.verdict = "ok";
    record.exit_code = 0;
    BENCHCTL_CHECK(write_atomic(unit + dir + "/trial.json", to_json(record).dump()));
    source.expected.push_back({record.spec, "p"});
  }
  BENCHCTL_CHECK(write_atomic(folder + "/flat.csv", flat));
  BENCHCTL_TRY(source.entries, scan_tree(unit, {}));

  BENCHCTL_TRY(auto store, open_store({folder + "/store.db"}, clock));
  RunRow run;
  run.id = "r";
  run.folder = run_folder;
  BENCHCTL_CHECK(store->begin_run(run));
  BENCHCTL_TRY(int64_t machine,
               store->add_lease({"n", "r", "o", "f", 0, "m", 0}, {"local", "f", {}, "", "", "", {}}, false));
  BENCHCTL_CHECK(store->save_point({"p", "s", "w", "m", "", "b", Json::object()}));
  double begin = cpu_seconds(RUSAGE_SELF);
  BENCHCTL_TRY(UnitResult result, store->import_unit(machine, source));
  double ours = cpu_seconds(RUSAGE_SELF) - begin;

  begin = cpu_seconds(RUSAGE_CHILDREN);
  std::string flat_db = folder + "/flat.db", import = ".import " + folder + "/flat.csv t";
  pid_t child = fork();
  if (child == 0) {
    execlp("sqlite3", "sqlite3", flat_db.c_str(), ".mode csv", import.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return Error{ErrorKind::kInternal, "sqlite3 .import failed"};
  double theirs = cpu_seconds(RUSAGE_CHILDREN) - begin;
  std::printf("rows=%lld import_cpu_s=%.2f sqlite3_import_cpu_s=%.2f ratio=%.2f\n",
              static_cast<long long>(result.samples_new), ours, theirs, ours / theirs);
  return {};
}

}  // namespace
}  // namespace benchctl

int main() {
  std::string folder = "/tmp/benchctl-ingest-bench-" + benchctl::random_hex(6);
  auto done = benchctl::make_dirs(folder);
  if (done) done = benchctl::bench(folder);
  auto removed = benchctl::remove_tree(folder);
  for (const auto* status : {&done, &removed})
    if (!status->ok()) std::fprintf(stderr, "ingest_bench: %s\n", status->error().message.c_str());
  return done && removed ? 0 : 1;
}
