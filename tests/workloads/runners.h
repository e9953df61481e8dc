// The real runners of request_shape, built once for all tests here.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "controller/workloads/build.h"
#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl::testing_workloads {

inline const std::vector<std::string> kRunners = {"c_sqlite", "rust_rusqlite"};

// The two CPUs are shared with other tests: generous, since no test gates on seconds.
constexpr auto kRunTime = std::chrono::minutes(5);

inline SystemClock& wall() {
  static SystemClock clock;
  return clock;
}

inline BuildContext context_for(const std::string& root, const std::string& cache) {
  return BuildContext{root, cache, wall(), [](const std::string& line) { std::cerr << line << "\n"; }, {}};
}

inline BuildContext shared_context() {
  return context_for(BENCHCTL_SOURCE_DIR "/workloads", BENCHCTL_BINARY_DIR "/workloads-cache");
}

inline void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  EXPECT_TRUE(file.good()) << path;
}

// A folder that is gone with the object.
class TempDir {
 public:
  TempDir() {
    char name[] = "/tmp/benchctl-workloads-XXXXXX";
    if (mkdtemp(name) != nullptr) path_ = name;
  }
  ~TempDir() { (void)remove_tree(path_); }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Result<std::string> build_runner(const std::string& arm) {
  BuildContext context = shared_context();
  BENCHCTL_TRY(Workload workload, load_workload(context.root + "/request_shape"));
  BENCHCTL_TRY(auto bundles, build_bundles(workload, {arm}, context));
  return bundles.front().folder + "/" + workload.arm(arm)->argv[0];
}

// The program of an arm, from the shared cache; empty (and a failed test) when it cannot be built.
inline std::string runner(const std::string& arm) {
  static std::map<std::string, std::string> programs;
  auto known = programs.find(arm);
  if (known != programs.end()) return known->second;
  auto program = build_runner(arm);
  if (!program) ADD_FAILURE() << program.error().message;
  return programs[arm] = program ? *program : "";
}

inline CommandResult run_in(const std::string& folder, const std::vector<std::string>& argv,
                            const std::vector<std::string>& env = {}) {
  CommandSpec spec;
  spec.argv = argv;
  spec.cwd = folder;
  spec.env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
  spec.env.insert(spec.env.end(), env.begin(), env.end());
  spec.deadline = Deadline::in(wall(), kRunTime);
  auto ended = run_command(spec, wall());
  if (!ended) {
    ADD_FAILURE() << ended.error().message;
    return CommandResult{-1, "", "", ""};
  }
  return *ended;
}

// Standard output of a run that must succeed and leave nothing behind.
inline std::string output_of(const std::string& arm, std::vector<std::string> words) {
  TempDir folder;
  words.insert(words.begin(), runner(arm));
  CommandResult ended = run_in(folder.path(), words);
  EXPECT_TRUE(ended.ok()) << arm << ": " << ended.exit_code << ended.signal << " " << ended.errors;
  auto left = list_dir(folder.path());
  EXPECT_TRUE(left.ok() && left->empty()) << arm << " left files behind";
  return ended.output;
}

inline std::vector<std::vector<std::string>> cells_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  EXPECT_TRUE(csv.ends_with("\n")) << csv;
  for (std::string_view line : split(csv, '\n')) {
    if (line.empty()) continue;
    rows.emplace_back();
    for (std::string_view cell : split(line, ',')) rows.back().emplace_back(cell);
  }
  return rows;
}

}  // namespace benchctl::testing_workloads
