// The real runners of request_shape, built once for all tests here.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "controller/workloads/build.h"
#include "controller/workloads/toolchain.h"
#include "lib/files.h"
#include "lib/text.h"
#include "provisioning/command.h"

namespace benchctl::testing_workloads {

using Words = std::vector<std::string>;

inline Words operator+(Words left, const Words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

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

// The arm's command of a workload that `context` knows, its program by its full path.
inline Result<Words> build_command(const std::string& arm, BuildContext context) {
  BENCHCTL_TRY(Workload workload, load_workload(context.root + "/request_shape"));
  BENCHCTL_TRY(auto bundles, build_bundles(workload, {arm}, context));
  Words argv = workload.arm(arm)->argv;
  argv[0] = bundles.front().folder + "/" + argv[0];
  return argv;
}

// The same from the shared cache; a failed test, and a command that fails, when it cannot be built.
inline Words command(const std::string& arm) {
  static std::mutex mutex;
  static std::map<std::string, Words> commands;
  std::lock_guard lock(mutex);
  auto known = commands.find(arm);
  if (known != commands.end()) return known->second;
  auto built = build_command(arm, shared_context());
  if (!built) ADD_FAILURE() << built.error().message;
  return commands[arm] = built ? *built : Words{"false"};
}

// Runners of both modes; a new one joins every test by its name here. Gleam's compiler comes from no package registry:
// its runner joins where there is one, and then has to build.
inline const std::vector<std::string>& runners() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> known = {"c_sqlite", "rust_rusqlite", "zig_sqlite", "go_ncruces", "bun_sqlite"};
    auto gleam = build_command("gleam_sqlite", shared_context());
    if (gleam || gleam.error().kind != ErrorKind::kUsage) known.emplace_back("gleam_sqlite");
    return known;
  }();
  return all;
}

inline bool has_gleam() {
  return runners().back() == "gleam_sqlite";
}

// Those, and the arms that have sequential mode only.
inline std::vector<std::string> sequential_runners() {
  std::vector<std::string> all = runners();
  all.emplace_back("rust_rusqlite_query_only");
  return all;
}

inline CommandResult run_in(const std::string& folder, const std::vector<std::string>& argv,
                            const std::vector<std::string>& env = {}, const std::string& input = "") {
  CommandSpec spec;
  spec.argv = argv;
  spec.cwd = folder;
  spec.env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
  spec.env.insert(spec.env.end(), env.begin(), env.end());
  spec.input = input;
  spec.deadline = Deadline::in(wall(), kRunTime);
  auto ended = run_command(spec, wall());
  if (!ended) {
    ADD_FAILURE() << ended.error().message;
    return CommandResult{-1, "", "", ""};
  }
  return *ended;
}

// Standard output of a run that must succeed and leave nothing behind.
inline std::string output_of(const std::string& arm, const Words& words) {
  TempDir folder;
  CommandResult ended = run_in(folder.path(), command(arm) + words);
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

// Runs `test` for every runner at the same time: for tests that mostly wait.
inline void at_once(const std::vector<std::string>& arms, const std::function<void(const std::string&)>& test) {
  for (const std::string& arm : arms) (void)command(arm);
  std::vector<std::thread> threads;
  for (const std::string& arm : arms) threads.emplace_back(test, arm);
  for (std::thread& thread : threads) thread.join();
}

// A copy of the workloads in which one line of one file is another.
struct Mutant {
  Mutant(const std::string& file, const std::string& line, const std::string& instead)
      : context(context_for(folder.path() + "/workloads", BENCHCTL_BINARY_DIR "/workloads-cache")) {
    std::filesystem::copy(BENCHCTL_SOURCE_DIR "/workloads", folder.path() + "/workloads",
                          std::filesystem::copy_options::recursive);
    change(file, line, instead);
  }

  void change(const std::string& file, const std::string& line, const std::string& instead) {
    const std::string path = folder.path() + "/workloads/request_shape/" + file;
    auto text = read_file(path);
    size_t at = text ? text->find(line) : std::string::npos;
    if (at == std::string::npos) {
      ADD_FAILURE() << file << " has no line " << line;
      return;
    }
    std::ofstream(path) << text->replace(at, line.size(), instead);
  }

  TempDir folder;
  BuildContext context;
};

// What the toolchains for plain C give on this computer: CC, SQLITE_DIR and the like, by name.
inline std::map<std::string, std::string> c_toolchains(BuildContext& context) {
  const BuildTarget target{"x86_64", "x86-64-v2"};
  Toolchains toolchains(context);
  auto found = toolchains.resolve({"cc", "sqlite"}, target);
  if (!found) {
    ADD_FAILURE() << found.error().message;
    return {};
  }
  std::map<std::string, std::string> given;
  for (const std::string& entry : environment_of(context, *found, target)) {
    const size_t equals = entry.find('=');
    given.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return given;
}

}  // namespace benchctl::testing_workloads
