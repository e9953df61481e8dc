// What goes wrong is said in one line, with the exit code that is documented, and leaves no database.
#include <algorithm>

#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

TEST(Arguments, MistakesAreOneLineAndExitCodeTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"--bogus"},
      {"--mode"},
      {"--mode", ""},
      {"--mode", "parallel"},
      {"--mode", "sequential", "--items", "0"},
      {"--mode", "sequential", "--items", "10x"},
      {"--mode", "sequential", "--items", " 10"},
      {"--mode", "sequential", "--items", "99999999999999999999"},
      {"--mode", "concurrent"},
      {"--mode", "concurrent", "--workload", "reads"},
      {"--mode", "concurrent", "--workload", "read", "--workers", "0"},
      {"--mode", "concurrent", "--workload", "read", "--duration", "0"},
      {"--mode", "concurrent", "--workload", "read", "--duration", "1,5"},
      {"--mode", "concurrent", "--workload", "read", "--duration", "1.2345"},
      {"--mode", "concurrent", "--workload", "read", "--warmup", "nan"},
      {"--trace", "--mode", "sequential"},
      {"--trace", "--info"},
      {"--info", "--histogram"},
      {"--mode", "sequential", "--items", "-1"},
      {"--mode", "sequential", "--items", "1e3"},
      {"--mode", "sequential", "--items"},
      {"--mode", "sequential", "--rows", "0"},
      {"--mode", "sequential", "--rows", "1001"},
      {"--mode", "sequential", "--extra-tables", "1001"},
      {"--mode", "sequential", "--extra-indexes", "65"},
      {"--mode", "sequential", "--reads", "0"},
      {"--mode", "sequential", "--writes", "x"},
      {"--trace", "--parent-lookup", "both"},
      {"--trace", "--statement-cache", "16"},
      {"--mode", "concurrent", "--workload", "open_read", "--rate", "0"},
      {"--mode", "concurrent", "--workload", "read", "--workers", "-1"},
      {"--mode", "concurrent", "--workload", "read", "--workers", "4097"},
      {"--mode", "sequential", "--db", "/etc/passwd"},
  };
  for (const auto& words : wrong) {
    std::vector<std::string> lines;
    for (const std::string& arm : kRunners) {
      TempDir folder;
      CommandResult ended = run_in(folder.path(), command(arm) + words);
      EXPECT_EQ(ended.exit_code, 2) << arm << " " << join(words, " ");
      EXPECT_EQ(ended.output, "");
      EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
      lines.push_back(ended.errors.substr(std::min(arm.size(), ended.errors.size())));
    }
    for (const std::string& line : lines) EXPECT_EQ(line, lines[0]);
  }
}

// One line that begins with the arm's name; exit code 1; nothing left in the folder.
void expect_failure(const std::string& arm, const CommandResult& ended, const std::string& words,
                    const std::string& folder) {
  EXPECT_EQ(ended.exit_code, 1) << arm << ": " << ended.errors;
  EXPECT_TRUE(ended.errors.starts_with(arm + ": ")) << ended.errors;
  EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
  EXPECT_NE(ended.errors.find(words), std::string::npos) << arm << ": " << ended.errors;
  auto left = list_dir(folder);
  EXPECT_TRUE(left.ok() && left->empty()) << arm << " left " << (left.ok() ? join(*left, " ") : "");
}

const Words kModes[] = {{"--mode", "sequential", "--items", "10000"},
                        {"--mode", "concurrent", "--workload", "write", "--workers", "3", "--duration", "2"}};

// Runs the command in a file system of its own, mounted on the folder by `mount`.
CommandResult run_mounted(const std::string& folder, const std::string& mount, const Words& command) {
  const Words alone = {"unshare",
                       "--user",
                       "--map-root-user",
                       "--mount",
                       "sh",
                       "-c",
                       mount + " && cd \"$PWD\" && { \"$@\"; rc=$?; ls -A; exit $rc; }",
                       "sh"};
  return run_in(folder, alone + command);
}

TEST(Failures, MissingFolder) {
  for (const std::string& arm : sequential_runners()) {
    TempDir folder;
    CommandResult missing = run_in(folder.path(), command(arm) + Words{"--mode", "sequential", "--db", "absent/x.db"});
    expect_failure(arm, missing, "absent/x.db: ", folder.path());
  }
  for (const std::string& arm : kRunners) {
    TempDir folder;
    const Words words = {"--mode", "concurrent", "--workload", "read", "--duration", "0.05", "--warmup", "0"};
    CommandResult missing = run_in(folder.path(), command(arm) + words, {"BENCHCTL_OUT=/absent"});
    expect_failure(arm, missing, "/absent/" + arm + "_app_request_read.hist.csv: ", folder.path());
  }
}

TEST(Failures, FullDisk) {
  for (const std::string& arm : kRunners)
    for (const Words& words : kModes) {
      TempDir folder;
      // One that the seed fits into and the log does not; what is left there is the output.
      CommandResult full = run_mounted(folder.path(), "mount -t tmpfs -o size=200k tmpfs .", command(arm) + words);
      if (full.errors.find("unshare") != std::string::npos) GTEST_SKIP() << "no user namespaces here: " << full.errors;
      // The Go driver does not tell a full disk from other errors of a disk.
      expect_failure(arm, full, arm == "go_ncruces" ? "disk I/O error" : "full", folder.path());
      EXPECT_EQ(full.output.find(".db"), std::string::npos) << arm << " left " << full.output;
    }
}

TEST(Failures, ReadOnlyFolder) {
  for (const std::string& arm : kRunners)
    for (const Words& words : kModes) {
      TempDir folder;
      CommandResult ended = run_mounted(folder.path(), "mount -t tmpfs -o ro tmpfs .", command(arm) + words);
      if (ended.errors.find("unshare") != std::string::npos)
        GTEST_SKIP() << "no user namespaces here: " << ended.errors;
      expect_failure(arm, ended, arm + "-", folder.path());
    }
}

TEST(Failures, StandardOutputThatCannotBeWritten) {
  for (const std::string& arm : kRunners) {
    TempDir folder;
    CommandResult output = run_in(folder.path(), Words{"sh", "-c", "exec \"$@\" >/dev/full", "sh"} + command(arm) +
                                                     Words{"--mode", "sequential", "--items", "1"});
    expect_failure(arm, output, "standard output: it could not be written in full", folder.path());
  }
}

// A killed run leaves its files, and no later one is harmed: another name by default, and a refusal where the name is
// the same, so that a log is never taken for that of another database.
TEST(Failures, KilledInMidRun) {
  for (const std::string& arm : kRunners) {
    TempDir folder;
    const std::string killed =
        "\"$@\" --mode concurrent --workload write --workers 2 --duration 60 --warmup 0 & "
        "for n in $(seq 2000); do ls *.db-wal >/dev/null 2>&1 && break; sleep 0.01; done; "
        "sleep 0.1; kill -9 $!; wait $! 2>/dev/null; ls -A";
    CommandResult ended = run_in(folder.path(), Words{"sh", "-c", killed, "sh"} + command(arm));
    auto left = list_dir(folder.path());
    ASSERT_TRUE(left.ok() && left->size() == 3) << arm << ": " << ended.output << ended.errors;
    const std::string database = left->front();
    EXPECT_TRUE(database.starts_with(arm + "-") && database.ends_with(".db")) << database;

    CommandResult next = run_in(folder.path(), command(arm) + Words{"--mode", "sequential", "--items", "5"});
    EXPECT_TRUE(next.ok()) << next.errors;
    EXPECT_EQ(list_dir(folder.path())->size(), 3u) << "it has removed what is not its own, or left something";

    for (const char* suffix : {"", "-wal", "-shm"}) {
      const Words words = {"--mode", "sequential", "--items", "5", "--db", database};
      CommandResult same = run_in(folder.path(), command(arm) + words);
      EXPECT_EQ(same.exit_code, 2) << arm << ": " << same.errors;
      EXPECT_NE(same.errors.find("--db: '" + database + suffix + "' exists already"), std::string::npos) << same.errors;
      std::filesystem::remove(folder.path() + "/" + database + suffix);
    }
    CommandResult clean = run_in(folder.path(), command(arm) + Words{"--trace", "--db", database});
    EXPECT_TRUE(clean.ok()) << clean.errors;
    EXPECT_TRUE(list_dir(folder.path())->empty());
  }
}

}  // namespace
}  // namespace benchctl::testing_workloads
