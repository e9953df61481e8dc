#include <algorithm>

#include "lib/json.h"
#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

TEST(Trace, IsTheRequestScriptInEveryRunner) {
  auto expected = read_file(BENCHCTL_SOURCE_DIR "/workloads/request_shape/sql/trace.expected");
  ASSERT_TRUE(expected.ok());
  for (const std::string& arm : kRunners) EXPECT_EQ(output_of(arm, {"--trace"}), *expected) << arm;

  // 26 reads over 22 statements; six reads and one update between begin and commit.
  std::vector<std::string> edit, update;
  for (std::string_view line : split(*expected, '\n')) {
    auto cells = split(line, '\t');
    if (cells.size() != 6) continue;
    (cells[0] == "admin_item_edit" ? edit : update).emplace_back(cells[2]);
  }
  EXPECT_EQ(edit.size(), 26u);
  std::sort(edit.begin(), edit.end());
  EXPECT_EQ(std::unique(edit.begin(), edit.end()) - edit.begin(), 22);
  EXPECT_EQ(update,
            (std::vector<std::string>{"begin_immediate", "staff_by_id", "org_by_slug", "item_by_org_and_id",
                                      "count_addons", "count_discount_items", "count_tags", "update_item", "commit"}));
}

TEST(Sequential, ChecksAreEqualAndRowsParse) {
  for (const char* items : {"1", "100", "1000"}) {
    std::vector<std::vector<std::string>> checks;
    for (const std::string& arm : kRunners) {
      auto rows = cells_of(output_of(arm, {"--mode", "sequential", "--items", items}));
      ASSERT_EQ(rows.size(), 4u);
      EXPECT_EQ(rows[0], (std::vector<std::string>{"case", "items", "micros", "us_per_item", "check"}));
      const char* cases[] = {"seed_dummy_data", "admin_item_edit", "admin_item_update"};
      checks.emplace_back();
      for (size_t i = 1; i < 4; ++i) {
        ASSERT_EQ(rows[i].size(), 5u);
        EXPECT_EQ(rows[i][0], arm + "/app_request/" + cases[i - 1]);
        EXPECT_EQ(rows[i][1], i == 1 ? "899" : items);
        auto micros = parse_int(rows[i][2]);
        auto per_item = parse_double(rows[i][3]);
        ASSERT_TRUE(micros && per_item && parse_int(rows[i][4])) << join(rows[i], ",");
        EXPECT_EQ(rows[i][3].size() - rows[i][3].find('.'), 4u) << rows[i][3];
        EXPECT_NEAR(*per_item, static_cast<double>(*micros) / static_cast<double>(*parse_int(rows[i][1])), 1.001);
        checks.back().push_back(rows[i][4]);
      }
    }
    EXPECT_EQ(checks[0], checks[1]) << items << " items";
    // A check that does not depend on what was read would be equal too.
    EXPECT_NE(checks[0][1], checks[0][2]);
  }
}

TEST(Sequential, EveryStatementIsPreparedOnceAndRunAsOftenAsItIsAsked) {
  for (const std::string& arm : kRunners) {
    TempDir folder;
    CommandResult ended =
        run_in(folder.path(), {runner(arm), "--mode", "sequential", "--items", "50", "--statement-counts"});
    ASSERT_TRUE(ended.ok()) << ended.errors;
    // The counters live in the prepared statement: had it been prepared again, they would have started anew.
    std::map<std::string, std::string> counts;
    for (std::string_view line : split(ended.errors, '\n'))
      if (size_t space = line.find(' '); space != std::string_view::npos)
        counts[std::string(line.substr(0, space))] = line.substr(space + 1);
    EXPECT_EQ(counts.size(), 25u) << arm;  // 22 of the edit, begin, update, commit
    EXPECT_EQ(counts["staff_by_id"], "runs=100 prepared_again=0") << arm;
    EXPECT_EQ(counts["count_fields"], "runs=100 prepared_again=0") << arm;
    EXPECT_EQ(counts["item_revision"], "runs=50 prepared_again=0") << arm;
    EXPECT_EQ(counts["begin_immediate"], "runs=50 prepared_again=0") << arm;
    EXPECT_EQ(counts["commit"], "runs=50 prepared_again=0") << arm;
  }
}

TEST(Info, BothRunTheSameSqlite) {
  std::vector<Json> infos;
  for (const std::string& arm : kRunners) {
    auto info = Json::parse(output_of(arm, {"--info"}));
    ASSERT_TRUE(info.ok()) << info.error().message;
    EXPECT_EQ((*info)["runner"].as_string(), arm);
    for (const char* key :
         {"language", "language_version", "driver", "driver_version", "sqlite_version", "build_flags"})
      EXPECT_FALSE((*info)[key].as_string().empty()) << arm << " " << key;
    EXPECT_GE((*info)["statement_cache_size"].as_int(), 26) << arm;
    infos.push_back(*info);
  }
  EXPECT_EQ(infos[0]["sqlite_source_id"].as_string(), infos[1]["sqlite_source_id"].as_string());
  EXPECT_EQ(infos[0]["compile_options"].dump(), infos[1]["compile_options"].dump());
  auto version = split(infos[0]["sqlite_version"].as_string(), '.');
  ASSERT_EQ(version.size(), 3u);
  EXPECT_GE(*parse_int(version[0]) * 1000 + *parse_int(version[1]), 3051);
}

TEST(Arguments, MistakesAreOneLineAndExitCodeTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"--bogus"},
      {"--mode"},
      {"--mode", ""},
      {"--mode", "parallel"},
      {"--mode", "sequential", "--items", "0"},
      {"--mode", "sequential", "--items", "-5"},
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
      {"--mode", "sequential", "--db", "/etc/passwd"},
  };
  for (const auto& words : wrong) {
    std::vector<std::string> lines;
    for (const std::string& arm : kRunners) {
      TempDir folder;
      std::vector<std::string> argv = words;
      argv.insert(argv.begin(), runner(arm));
      CommandResult ended = run_in(folder.path(), argv);
      EXPECT_EQ(ended.exit_code, 2) << arm << " " << join(words, " ");
      EXPECT_EQ(ended.output, "");
      EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
      lines.push_back(ended.errors.substr(std::min(arm.size(), ended.errors.size())));
    }
    EXPECT_EQ(lines[0], lines[1]);
  }
}

TEST(Failures, AreSaidAndTheExitCodeIsNotZero) {
  for (const std::string& arm : kRunners) {
    TempDir folder;
    CommandResult missing = run_in(folder.path(), {runner(arm), "--mode", "sequential", "--db", "absent/x.db"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_NE(missing.errors.find("absent/x.db: unable to open database file"), std::string::npos) << missing.errors;

    // A full disk under the database: a file system of its own where we may make one.
    const std::string mounted =
        "mount -t tmpfs -o size=200k tmpfs . && cd . && cd \"$PWD\" && exec \"$0\" --mode sequential --items 10000";
    CommandResult full =
        run_in(folder.path(), {"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mounted, runner(arm)});
    if (full.errors.find("unshare") != std::string::npos) GTEST_SKIP() << "no user namespaces here: " << full.errors;
    EXPECT_EQ(full.exit_code, 1) << full.errors;
    EXPECT_NE(full.errors.find("database or disk is full"), std::string::npos) << full.errors;

    // Standard output that cannot be written.
    CommandResult output =
        run_in(folder.path(), {"sh", "-c", "exec \"$0\" --mode sequential --items 1 >/dev/full", runner(arm)});
    EXPECT_EQ(output.exit_code, 1) << arm;
    EXPECT_NE(output.errors.find("standard output: it could not be written in full"), std::string::npos)
        << output.errors;
  }
}

}  // namespace
}  // namespace benchctl::testing_workloads
