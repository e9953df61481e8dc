// The controller is killed in the middle of an import, twice; the third time it completes, and what stands in the store
// then is, row by row, what an import that nobody disturbed leaves.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "controller/store/store_test_support.h"

namespace benchctl {
namespace {

class ImportKilledTwice : public StoreFixture {
 protected:
  static constexpr int kTrials = 4, kRows = 300;

  void SetUp() override {
    for (int64_t number = 1; number <= kTrials; ++number) {
      specs_.push_back(spec(number, 1));
      std::string output = "case,items,micros,us_per_item,check\n";
      for (int row = 0; row < kRows; ++row)
        output += "c/" + std::to_string(row) + ",10," + std::to_string(number * 1000 + row) + ",2,7\n";
      put_trial("u", record(specs_.back()), output, {{"out/c_1.hist.csv", "bucket_us,count\n1,5\n2,3\n"}});
    }
  }

  void begin_in(const std::string& path) {
    store_ = path;
    auto store = must(open_store({path, nullptr}, clock_));
    begin(*store);
  }

  UnitSource unit() const { return source("u", specs_); }

  // The child's end: killed, or 0 when the import went through.
  void import_killed_at(const std::string& place) {
    pid_t child = fork();
    if (child == 0) {
      KillAt failpoints(place);
      auto store = open_store({store_, &failpoints}, clock_);
      _exit(store.ok() && (*store)->import_unit(machine_, unit()).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << place << ": status " << status;
    // Whole or not at all, and sound, as the next process sees it.
    auto database = must(sqlite::Database::open(store_));
    EXPECT_EQ(must(database.text("PRAGMA quick_check")), "ok");
    int64_t samples = must(database.integer("SELECT count(*) FROM sample"));
    EXPECT_TRUE(samples == 0 || samples == int64_t{kTrials} * kRows * 2) << place << ": " << samples;
  }

  // Every row of every table that an import writes, as text.
  std::vector<std::string> rows() {
    std::vector<std::string> all;
    auto database = must(sqlite::Database::open(store_));
    for (const char* table :
         {"name", "metric", "site", "trial", "trial_machine", "sample", "histogram", "file", "unit"}) {
      auto select = must(database.query(std::string("SELECT * FROM ") + table + " ORDER BY 1, 2"));
      size_t before = all.size();
      while (must(select.step())) {
        std::string row = table;
        for (int column = 0; column < select.columns(); ++column)
          row += "|" + (select.is_null(column) ? std::string("NULL") : select.text(column));
        all.push_back(std::move(row));
      }
      EXPECT_GT(all.size(), before) << table << " is empty: the comparison would say nothing";
    }
    return all;
  }

  std::vector<TrialSpec> specs_;
  std::string store_;
};

TEST_F(ImportKilledTwice, ThenItCompletesAndEqualsAnUndisturbedOne) {
  begin_in(folder_ + "/undisturbed/store.db");
  must(must(open_store({store_, nullptr}, clock_))->import_unit(machine_, unit()));
  const std::vector<std::string> wanted = rows();
  ASSERT_GT(wanted.size(), size_t{kTrials} * kRows * 2);

  const std::vector<std::string> places = {"import:begin", "import:trial#1", "import:trial#3", "import:commit",
                                           "import:committed"};
  for (const std::string& first : places)
    for (const std::string& second : places) {
      SCOPED_TRACE(first + ", then " + second);
      begin_in(folder_ + "/" + std::to_string(&first - places.data()) + "-" + std::to_string(&second - places.data()) +
               "/store.db");
      import_killed_at(first);
      import_killed_at(second);
      auto store = must(open_store({store_, nullptr}, clock_));
      UnitResult result = must(store->import_unit(machine_, unit()));
      bool was_in = first == "import:committed" || second == "import:committed";
      EXPECT_EQ(result.trials_same, was_in ? kTrials : 0);
      EXPECT_EQ(result.trials_new, was_in ? 0 : kTrials);
      EXPECT_TRUE(result.refused.empty() && result.malformed.empty());
      EXPECT_EQ(rows(), wanted);
    }
}

}  // namespace
}  // namespace benchctl
