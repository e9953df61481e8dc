// Runners are not the slow part: instructions of the edit request, counted by callgrind, which are the same every time.
#include "lib/json.h"
#include "tests/workloads/gates.h"

namespace benchctl::testing_workloads {
namespace {

constexpr int64_t kItems = 40;

// Of a whole run in sequential mode, -1 with a failed test when it cannot be counted.
int64_t instructions(const Words& command, const Words& more) {
  TempDir folder;
  const Words counted = {"valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=counts"};
  CommandResult ended = run_in(
      folder.path(), counted + command + Words{"--mode", "sequential", "--items", std::to_string(kItems)} + more);
  auto counts = read_file(folder.path() + "/counts");
  const size_t at = counts ? counts->find("\nsummary: ") : std::string::npos;
  if (ended.ok() && at != std::string::npos) {
    std::string_view rest = std::string_view(*counts).substr(at + 10);
    if (auto value = parse_int(rest.substr(0, rest.find('\n')))) return *value;
  }
  ADD_FAILURE() << command[0] << ": " << ended.errors;
  return -1;
}

// Of the 26 reads: what twice as many cost more. Start, seed and updates drop out.
double edit_instructions(const Words& command, const std::string& cache = "fits") {
  const Words shape = {"--statement-cache", cache, "--reads"};
  return static_cast<double>(instructions(command, shape + Words{"52"}) - instructions(command, shape + Words{"26"})) /
         static_cast<double>(kItems);
}

TEST(Instructions, RunnersAreNotTheSlowPart) {
  // rusqlite: 1.14 when this was written, and by the profile the driver's, whatever a program does: each prepare_cached
  // hashes the statement's text, takes the statement out of the cache and puts it back (half of the difference); values
  // are bound as parameters that know their type, texts copied, and bindings cleared at each use (the other half). The
  // runner's own functions are 2 % of its instructions.
  const std::map<std::string, double> most = {{"rust_rusqlite", 1.18}, {"zig_sqlite", 1.05}};
  const double c = edit_instructions(command("c_sqlite"));
  EXPECT_GT(c, 100'000);
  for (const std::string& arm : runners())
    if (auto bound = most.find(arm); bound != most.end()) {
      const double ratio = edit_instructions(command(arm)) / c;
      EXPECT_LE(ratio, bound->second) << arm;
      EXPECT_GT(ratio, 0.9) << arm << " does not do the same";
    }
}

// A c_sqlite with its symbols, changed further in one place: the share of an edit's instructions outside SQLite.
double share_outside(const std::string& file, const std::string& line, const std::string& instead) {
  Mutant changed("c/build.sh", "\"$STRIP\" \"$BENCHCTL_OUT/bin/c_sqlite\"", ":");
  changed.change(file, line, instead);
  auto built = build_command("c_sqlite", changed.context);
  if (!built) ADD_FAILURE() << built.error().message;
  TempDir folder;
  const Words counted = {"valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=counts",
                         "--toggle-collect=admin_item_edit"};
  CommandResult ended = run_in(
      folder.path(), counted + (built ? *built : Words{"false"}) + Words{"--mode", "sequential", "--items", "100"});
  EXPECT_TRUE(ended.ok()) << ended.errors;
  // SQLite's functions are those of the library that it was linked with.
  const std::string library = c_toolchains(changed.context)["SQLITE_DIR"] + "/libsqlite3.a";
  CommandResult split_up =
      run_in(folder.path(), {"python3", BENCHCTL_SOURCE_DIR "/tests/workloads/outside_sqlite.py", "counts", library});
  EXPECT_TRUE(split_up.ok()) << split_up.errors;
  auto words = split(trim(split_up.output), ' ');
  if (words.size() != 2) return -1;
  const auto outside = static_cast<double>(parse_int(words[0]).value_or(-1)),
             all = static_cast<double>(parse_int(words[1]).value_or(-1));
  EXPECT_GT(outside, 0);
  EXPECT_GT(all, 100 * 100'000);
  return outside / all;
}

TEST(Instructions, CSpendsAtMostThreePercentOutsideSqlite) {
  const double share = share_outside("c/build.sh", "", "");
  RecordProperty("share_outside", std::to_string(share));
  EXPECT_GT(share, 0);
  EXPECT_LE(share, 0.03);
}

// A cache smaller than a request's 22 statements keeps none of them long enough, and costs more than keeping none:
// what is prepared to be kept is prepared without SQLite's fast small memory, and the list is managed for nothing.
std::string small_cache_fault(const Words& rust) {
  const double fits = edit_instructions(rust), usual = edit_instructions(rust, "default"),
               none = edit_instructions(rust, "none");
  const std::string counted = std::to_string(fits) + " instructions with all statements kept, " +
                              std::to_string(usual) + " with the driver's cache, " + std::to_string(none) +
                              " with none kept";
  return none <= 2 * fits ? "keeping none is too cheap: " + counted : usual <= none ? "not dearer: " + counted : "";
}

TEST(Instructions, ACacheThatDoesNotFitIsDearerThanNone) {
  EXPECT_EQ(small_cache_fault(command("rust_rusqlite")), "");
}

// Prepared once, or at each of 50 uses where the driver's cache is too small for a request.
std::string driver_cache_fault(const std::string& arm, const Words& command) {
  TempDir folder;
  auto info = Json::parse(run_in(folder.path(), command + Words{"--info"}).output);
  if (!info.ok()) return arm + ": " + info.error().message;
  const Json& size = (*info)["statement_cache_default"];
  auto counts =
      statement_counts(run_in(folder.path(), command + Words{"--mode", "sequential", "--items", "50",
                                                             "--statement-counts", "--statement-cache", "default"})
                           .errors);
  if (counts.size() != 25) return arm + " counted " + std::to_string(counts.size()) + " statements";
  // Null: the driver keeps none, so that the program does, as in "fits".
  const bool too_small = !size.is_null() && size.as_int() < 22;
  const Uses& uses = counts["theme_by_id"];
  if (uses.prepared == (too_small ? 50 : 1) && uses.runs == 50) return "";
  return arm + " prepared " + std::to_string(uses.prepared) + " times and ran " + std::to_string(uses.runs);
}

TEST(Instructions, ADriversCacheThatIsTooSmallPreparesAllStatementsOfARequest) {
  for (const std::string& arm : runners()) EXPECT_EQ(driver_cache_fault(arm, command(arm)), "");
}

// What the gates must find: a program that spends a little too much of its own, and one that makes SQLite do more.
TEST(Instructions, Mutants) {
  // Each column summed four times.
  EXPECT_GT(share_outside("c/database.c", "    row->sum = sum_columns(db->statements[which]);",
                          "    for (int i = 0; i < 4; i++) row->sum = sum_columns(db->statements[which]);"),
            0.03);
  // One statement of the 25 prepared at each use.
  Mutant prepares("c/database.c", "if (db->shape->statement_cache == CACHE_NONE)\n    finalize",
                  "if (which == theme_by_id)\n    finalize");
  auto built = build_command("c_sqlite", prepares.context);
  ASSERT_TRUE(built.ok()) << built.error().message;
  EXPECT_GT(edit_instructions(*built) / edit_instructions(command("c_sqlite")), 1.05);
}

// A driver's cache that is larger than it says, and "none" that keeps all the same.
TEST(Instructions, MutantsOfTheCaches) {
  auto rust = [](const Mutant& mutant) {
    auto built = build_command("rust_rusqlite", mutant.context);
    if (!built) ADD_FAILURE() << built.error().message;
    return built ? *built : Words{"false"};
  };
  const std::string only_fits = "if options.shape.statement_cache == StatementCache::Fits {";
  Mutant roomy("rust/src/database.rs", only_fits, "if options.shape.statement_cache != StatementCache::None {");
  const Words keeps_by_default = rust(roomy);
  EXPECT_TRUE(small_cache_fault(keeps_by_default).starts_with("not dearer: "));
  EXPECT_NE(driver_cache_fault("rust_rusqlite", keeps_by_default), "");
  Mutant keeping("rust/src/database.rs", only_fits, "if options.shape.statement_cache != StatementCache::Default {");
  keeping.change("rust/src/database.rs", "counted(&mut connection.prepare(statement.sql)?)",
                 "counted(&mut *connection.prepare_cached(statement.sql)?)");
  EXPECT_TRUE(small_cache_fault(rust(keeping)).starts_with("keeping none is too cheap: "));
}

}  // namespace
}  // namespace benchctl::testing_workloads
