#include <algorithm>

#include "lib/json.h"
#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

TEST(Trace, TheScriptHasTheReadsAndStatementsThatItShould) {
  auto expected = read_file(BENCHCTL_SOURCE_DIR "/workloads/request_shape/sql/trace.expected");
  ASSERT_TRUE(expected.ok());
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

TEST(Sequential, RowsParse) {
  for (const char* items : {"1", "100"})
    for (const std::string& arm : sequential_runners()) {
      auto rows = cells_of(output_of(arm, {"--mode", "sequential", "--items", items}));
      ASSERT_EQ(rows.size(), 4u);
      EXPECT_EQ(rows[0], (std::vector<std::string>{"case", "items", "micros", "us_per_item", "check"}));
      const char* cases[] = {"seed_dummy_data", "admin_item_edit", "admin_item_update"};
      for (size_t i = 1; i < 4; ++i) {
        ASSERT_EQ(rows[i].size(), 5u);
        EXPECT_EQ(rows[i][0], arm + "/app_request/" + cases[i - 1]);
        EXPECT_EQ(rows[i][1], i == 1 ? "899" : items);
        auto micros = parse_int(rows[i][2]);
        auto per_item = parse_double(rows[i][3]);
        ASSERT_TRUE(micros && per_item && parse_int(rows[i][4])) << join(rows[i], ",");
        EXPECT_EQ(rows[i][3].size() - rows[i][3].find('.'), 4u) << rows[i][3];
        EXPECT_NEAR(*per_item, static_cast<double>(*micros) / static_cast<double>(*parse_int(rows[i][1])), 1.001);
      }
      // A check that does not depend on what was read would be equal too.
      EXPECT_NE(rows[2][4], rows[3][4]);
    }
}

TEST(Info, SaysWhatRunsAndThatWhatLinksOurSqliteRunsIt) {
  const std::vector<std::string> linked = {"c_sqlite", "rust_rusqlite", "rust_rusqlite_query_only", "zig_sqlite"};
  std::vector<Json> infos;
  for (const std::string& arm : sequential_runners()) {
    auto info = Json::parse(output_of(arm, {"--info"}));
    ASSERT_TRUE(info.ok()) << info.error().message;
    EXPECT_EQ((*info)["runner"].as_string(), arm);
    for (const char* key :
         {"language", "language_version", "driver", "driver_version", "sqlite_version", "build_flags"})
      EXPECT_FALSE((*info)[key].as_string().empty()) << arm << " " << key;
    EXPECT_GE((*info)["statement_cache_size"].as_int(), 26) << arm;
    EXPECT_TRUE(info->find("statement_cache_default") != nullptr) << arm;
    auto version = split((*info)["sqlite_version"].as_string(), '.');
    ASSERT_EQ(version.size(), 3u) << arm;
    EXPECT_GE(*parse_int(version[0]) * 1000 + *parse_int(version[1]), 3051) << arm;
    if (std::find(linked.begin(), linked.end(), arm) != linked.end()) infos.push_back(*info);
  }
  ASSERT_EQ(infos.size(), linked.size());
  for (const Json& info : infos) {
    EXPECT_EQ(info["sqlite_source_id"].as_string(), infos[0]["sqlite_source_id"].as_string());
    EXPECT_EQ(info["compile_options"].dump(), infos[0]["compile_options"].dump());
  }
}

}  // namespace
}  // namespace benchctl::testing_workloads
