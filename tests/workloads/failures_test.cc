// What goes wrong is said in one line, with the exit code that is documented, and leaves no database.
#include <algorithm>
#include <memory>

#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

const std::vector<Words> kWrong = {
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

// What is said of a mistake, without the arm's name; "" when it is not one line and exit code 2.
std::string refusal(const std::string& arm, const Words& command, const Words& words) {
  TempDir folder;
  CommandResult ended = run_in(folder.path(), command + words);
  const bool refused = ended.exit_code == 2 && ended.output.empty() && ended.errors.starts_with(arm) &&
                       std::count(ended.errors.begin(), ended.errors.end(), '\n') == 1;
  return refused ? ended.errors.substr(arm.size()) : "";
}

// Every arm refuses it, in the words of c_sqlite.
std::string mistake_fault(const std::string& arm, const Words& command, const Words& words) {
  const std::string said = refusal(arm, command, words),
                    wanted = refusal("c_sqlite", testing_workloads::command("c_sqlite"), words);
  if (said.empty()) return arm + " does not refuse " + join(words, " ");
  return said == wanted ? "" : arm + " says " + said + "where c_sqlite says " + wanted;
}

TEST(Arguments, MistakesAreOneLineAndExitCodeTwo) {
  for (const auto& words : kWrong)
    for (const std::string& arm : runners()) EXPECT_EQ(mistake_fault(arm, command(arm), words), "");
}

// One line that begins with the arm's name; exit code 1; nothing left in the folder. The first fault, or "".
std::string failure_fault(const std::string& arm, const CommandResult& ended, const std::string& words,
                          const std::string& folder) {
  const std::string said = arm + " ended with " + std::to_string(ended.exit_code) + " and said: " + ended.errors;
  if (ended.exit_code != 1) return said;
  if (!ended.errors.starts_with(arm + ": ") || ended.errors.find(words) == std::string::npos) return said;
  if (std::count(ended.errors.begin(), ended.errors.end(), '\n') != 1) return said;
  auto left = list_dir(folder);
  if (!left.ok() || !left->empty()) return arm + " left " + (left.ok() ? join(*left, " ") : left.error().message);
  return "";
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

// That of the database.
std::string missing_folder_fault(const std::string& arm, const Words& command) {
  TempDir folder;
  CommandResult missing = run_in(folder.path(), command + Words{"--mode", "sequential", "--db", "absent/x.db"});
  return failure_fault(arm, missing, "absent/x.db: ", folder.path());
}

// That of the histograms.
std::string missing_out_fault(const std::string& arm, const Words& command) {
  TempDir folder;
  const Words words = {"--mode", "concurrent", "--workload", "read", "--duration", "0.05", "--warmup", "0"};
  CommandResult missing = run_in(folder.path(), command + words, {"BENCHCTL_OUT=/absent"});
  return failure_fault(arm, missing, "/absent/" + arm + "_app_request_read.hist.csv: ", folder.path());
}

TEST(Failures, MissingFolder) {
  for (const std::string& arm : sequential_runners()) EXPECT_EQ(missing_folder_fault(arm, command(arm)), "");
  for (const std::string& arm : runners()) EXPECT_EQ(missing_out_fault(arm, command(arm)), "");
}

constexpr const char* kNoNamespaces = "no user namespaces here";

std::string full_disk_fault(const std::string& arm, const Words& command, const Words& words) {
  TempDir folder;
  // One that the seed fits into and the log does not; what is left there is the output.
  CommandResult full = run_mounted(folder.path(), "mount -t tmpfs -o size=200k tmpfs .", command + words);
  if (full.errors.find("unshare") != std::string::npos) return kNoNamespaces;
  if (full.output.find(".db") != std::string::npos) return arm + " left " + full.output;
  // The Go driver does not tell a full disk from other errors of a disk.
  return failure_fault(arm, full, arm == "go_ncruces" ? "disk I/O error" : "full", folder.path());
}

std::string read_only_fault(const std::string& arm, const Words& command, const Words& words) {
  TempDir folder;
  CommandResult ended = run_mounted(folder.path(), "mount -t tmpfs -o ro tmpfs .", command + words);
  if (ended.errors.find("unshare") != std::string::npos) return kNoNamespaces;
  return failure_fault(arm, ended, arm + "-", folder.path());
}

TEST(Failures, FullDisk) {
  for (const std::string& arm : runners())
    for (const Words& words : kModes) {
      const std::string fault = full_disk_fault(arm, command(arm), words);
      if (fault == kNoNamespaces) GTEST_SKIP() << fault;
      EXPECT_EQ(fault, "");
    }
}

TEST(Failures, ReadOnlyFolder) {
  for (const std::string& arm : runners())
    for (const Words& words : kModes) {
      const std::string fault = read_only_fault(arm, command(arm), words);
      if (fault == kNoNamespaces) GTEST_SKIP() << fault;
      EXPECT_EQ(fault, "");
    }
}

std::string full_output_fault(const std::string& arm, const Words& command) {
  TempDir folder;
  CommandResult output = run_in(folder.path(), Words{"sh", "-c", "exec \"$@\" >/dev/full", "sh"} + command +
                                                   Words{"--mode", "sequential", "--items", "1"});
  return failure_fault(arm, output, "standard output: it could not be written in full", folder.path());
}

TEST(Failures, StandardOutputThatCannotBeWritten) {
  for (const std::string& arm : runners()) EXPECT_EQ(full_output_fault(arm, command(arm)), "");
}

// A killed run leaves its files, and no later one is harmed: another name by default, and a refusal where the name is
// the same, so that a log is never taken for that of another database.
std::string killed_fault(const std::string& arm, const Words& command) {
  TempDir folder;
  const std::string killed =
      "\"$@\" --mode concurrent --workload write --workers 2 --duration 60 --warmup 0 & "
      "for n in $(seq 2000); do ls *.db-wal >/dev/null 2>&1 && break; sleep 0.01; done; "
      "sleep 0.1; kill -9 $!; wait $! 2>/dev/null; ls -A";
  CommandResult ended = run_in(folder.path(), Words{"sh", "-c", killed, "sh"} + command);
  auto left = list_dir(folder.path());
  if (!left.ok() || left->size() != 3) return arm + " was not killed in mid-run: " + ended.output + ended.errors;
  const std::string database = left->front();
  if (!database.starts_with(arm + "-") || !database.ends_with(".db")) return arm + " left " + database;

  CommandResult next = run_in(folder.path(), command + Words{"--mode", "sequential", "--items", "5"});
  if (!next.ok()) return arm + " does not run beside what a killed one has left: " + next.errors;
  if (list_dir(folder.path())->size() != 3) return arm + " has removed what is not its own, or left something";

  for (const char* suffix : {"", "-wal", "-shm"}) {
    CommandResult same =
        run_in(folder.path(), command + Words{"--mode", "sequential", "--items", "5", "--db", database});
    if (same.exit_code != 2 ||
        same.errors.find("--db: '" + database + suffix + "' exists already") == std::string::npos)
      return arm + " took a name of which " + database + suffix + " is there: " + same.errors;
    std::filesystem::remove(folder.path() + "/" + database + suffix);
  }
  CommandResult clean = run_in(folder.path(), command + Words{"--trace", "--db", database});
  if (!clean.ok() || !list_dir(folder.path())->empty()) return arm + " left something: " + clean.errors;
  return "";
}

TEST(Failures, KilledInMidRun) {
  for (const std::string& arm : runners()) EXPECT_EQ(killed_fault(arm, command(arm)), "");
}

// A c_sqlite that is broken on purpose fails each of these.
TEST(Failures, Mutants) {
  std::vector<std::unique_ptr<Mutant>> kept;
  auto c = [&](const std::string& file, const std::string& line, const std::string& instead) {
    kept.push_back(std::make_unique<Mutant>(file, line, instead));
    auto built = build_command("c_sqlite", kept.back()->context);
    if (!built) ADD_FAILURE() << built.error().message;
    return built ? *built : Words{"false"};
  };
  const auto items = [](const std::string& value) { return Words{"--mode", "sequential", "--items", value}; };
  const Words no_workers = {"--mode", "concurrent", "--workload", "read",       "--workers",
                            "0",      "--warmup",   "0",          "--duration", "0.01"};
  const auto taken = [](const Words& command, const Words& words) {
    return mistake_fault("c_sqlite", command, words) == "c_sqlite does not refuse " + join(words, " ");
  };
  // The number that is meant, it thinks, by "0"; by a sign; by digits before something else.
  const Words lenient = c("c/options.c", "if (!value || !*value) usage(\"%s needs a value\", flag);",
                          "if (!value || strcmp(value, \"0\") == 0) value = \"1\";");
  EXPECT_TRUE(taken(lenient, items("0")));
  EXPECT_TRUE(taken(lenient, no_workers));
  const std::string digits = "size_t digits = strspn(text, \"0123456789\");";
  const Words unsigned_ones = c("c/options.c", digits, "text += *text == '-';\n  " + digits);
  EXPECT_TRUE(taken(unsigned_ones, items("-1")));
  const Words exponents = c("c/options.c", "digits > 15 || text[digits])", "digits > 15)");
  EXPECT_TRUE(taken(exponents, items("1e3")));
  // Refused, but in words of its own.
  const Words wordy = c("c/options.c", "is not a whole number", "is no number");
  for (const char* value : {"-1", "1e3"})
    EXPECT_TRUE(mistake_fault("c_sqlite", wordy, items(value)).starts_with("c_sqlite says ")) << value;
  const auto caught = [](const std::string& fault, const std::string& by) {
    return fault == kNoNamespaces || fault.find(by) != std::string::npos;
  };
  // Its database stays.
  const Words untidy = c("c/main.c", "  atexit(remove_database);\n", "  if (argc < 0) atexit(remove_database);\n");
  EXPECT_TRUE(caught(full_disk_fault("c_sqlite", untidy, kModes[0]), "c_sqlite left "));
  // A disk's error is taken for a locked database, and goes on.
  const Words careless = c("c/concurrent.c", "bool busy = (rc & 0xff) == SQLITE_BUSY &&", "bool busy = rc &&");
  EXPECT_TRUE(caught(full_disk_fault("c_sqlite", careless, kModes[1]), "ended with 0"));
  // What cannot be opened is not said.
  const Words silent = c("c/database.c", "if (rc != SQLITE_OK) fail(db, path, rc);\n  sqlite3_extended",
                         "if (rc != SQLITE_OK) exit(1);\n  sqlite3_extended");
  EXPECT_TRUE(caught(read_only_fault("c_sqlite", silent, kModes[0]), "ended with 1 and said: "));
  EXPECT_TRUE(caught(missing_folder_fault("c_sqlite", silent), "ended with 1 and said: "));
  // Where no file can be made, it keeps its database in memory.
  const std::string opens = "int rc = sqlite3_open_v2(path, &db->handle, flags, NULL);";
  const Words homeless =
      c("c/database.c", opens, opens + "\n  if (rc == SQLITE_CANTOPEN) rc = sqlite3_open(\":memory:\", &db->handle);");
  EXPECT_TRUE(caught(missing_folder_fault("c_sqlite", homeless), "ended with 0"));
  EXPECT_TRUE(caught(read_only_fault("c_sqlite", homeless, kModes[0]), "ended with 0"));
  // A histogram that has no place is left out.
  EXPECT_NE(missing_out_fault("c_sqlite", c("c/point.c", "if (file) histogram_write(histogram, file);",
                                            "if (!file) return;\n  histogram_write(histogram, file);")),
            "");
  // Output that did not arrive looks like a short result.
  EXPECT_NE(full_output_fault("c_sqlite", c("c/main.c", "if (fflush(stdout) != 0 || ferror(stdout)) {",
                                            "if (fflush(stdout) != 0 && argc < 0) {")),
            "");
  // What a killed one has left is taken for its own.
  EXPECT_NE(killed_fault("c_sqlite", c("c/options.c", "  refuse_existing(options.path);\n",
                                       "  if (argc < 0) refuse_existing(options.path);\n")),
            "");
}

}  // namespace
}  // namespace benchctl::testing_workloads
