#include <filesystem>
#include <sstream>

#include "controller/workloads/check.h"
#include "controller/workloads/verbs.h"
#include "lib/pack.h"
#include "lib/sha256.h"
#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

TEST(Build, TheSecondTimeNothingRunsAndTheBundleIsTheSame) {
  BuildContext context = shared_context();
  auto workload = load_workload(context.root + "/request_shape");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  auto first = build_bundles(*workload, {}, context);
  ASSERT_TRUE(first.ok()) << first.error().message;
  int said = 0;
  context.say = [&](const std::string&) { ++said; };
  auto second = build_bundles(*workload, {}, context);
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_EQ(first->size(), 2u);
  ASSERT_EQ(second->size(), 2u);
  EXPECT_EQ(said, 0);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_FALSE((*second)[i].built);
    EXPECT_EQ((*first)[i].sha256, (*second)[i].sha256);
    auto entries = scan_tree((*second)[i].folder, {});
    ASSERT_TRUE(entries.ok());
    EXPECT_EQ(sha256_hex(format_manifest(*entries)), (*second)[i].sha256);
    const Json& manifest = (*second)[i].manifest;
    EXPECT_EQ(manifest["isa"].as_string(), "x86-64-v2");
    EXPECT_EQ(manifest["min_glibc"].as_string(), "none");
    EXPECT_EQ(manifest["toolchains"]["sqlite"]["SQLITE_VERSION"].as_string(), "3.51.3");
    EXPECT_FALSE(manifest["toolchains"]["cc"]["CC_VERSION"].as_string().empty());
  }
}

TEST(Build, ProgramsAreStaticAndNameNoFolderOfThisComputer) {
  for (const std::string& arm : kRunners) {
    std::string program = runner(arm);
    CommandResult headers = run_in("/", {"readelf", "--program-headers", "--dynamic", program});
    ASSERT_TRUE(headers.ok()) << headers.errors;
    EXPECT_EQ(headers.output.find("INTERP"), std::string::npos) << arm;
    EXPECT_EQ(headers.output.find("NEEDED"), std::string::npos) << arm;
    auto bytes = read_file(program);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->find(BENCHCTL_SOURCE_DIR), std::string::npos) << arm;
    EXPECT_EQ(bytes->find(BENCHCTL_BINARY_DIR), std::string::npos) << arm;
    // Nothing but the program is needed: it runs in an otherwise empty root.
    TempDir empty;
    std::filesystem::copy_file(program, empty.path() + "/runner");
    CommandResult alone = run_in("/", {"unshare", "--user", "--map-root-user", "chroot", empty.path(), "/runner",
                                       "--mode", "sequential", "--items", "1"});
    if (alone.errors.find("unshare") != std::string::npos) GTEST_SKIP() << alone.errors;
    EXPECT_TRUE(alone.ok()) << alone.errors;
  }
}

TEST(Check, Agrees) {
  BuildContext context = shared_context();
  std::ostringstream out;
  Status status = workloads_check("request_shape", {}, context, out);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(out.str(), "request_shape: checks agree (2 arms, 1000 items, traces identical)\n");
}

// A copy of the workloads in which one runner leaves out one read.
struct Mutant {
  Mutant(const std::string& file, const std::string& line, const std::string& instead)
      : context(context_for(folder.path() + "/workloads", BENCHCTL_BINARY_DIR "/workloads-cache")) {
    std::filesystem::copy(BENCHCTL_SOURCE_DIR "/workloads", folder.path() + "/workloads",
                          std::filesystem::copy_options::recursive);
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

TEST(Check, ASkippedReadIsCaughtByTrace) {
  Mutant mutant("c/request.c", "  READ(count_tags, number(org));\n", "");
  std::ostringstream out;
  Status status = workloads_check("request_shape", {}, mutant.context, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kWorkload);
  EXPECT_NE(status.error().message.find("rust_rusqlite: its trace differs: line 5 is "), std::string::npos)
      << status.error().message;
  EXPECT_EQ(out.str(), "");
}

// The trace shows request 1 only: what goes wrong later is the check's to find.
TEST(Check, AWrongValueLaterIsCaughtByCheck) {
  Mutant mutant("c/request.c", "  READ(count_tags, number(org));\n",
                "  if (item < 50) READ(count_tags, number(org));\n");
  std::ostringstream out;
  Status status = workloads_check("request_shape", {}, mutant.context, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kWorkload);
  EXPECT_NE(status.error().message.find("rust_rusqlite: its check of app_request/admin_item_edit is "),
            std::string::npos)
      << status.error().message;
}

TEST(Build, AFailingStepNamesItsLogAndShowsItsEnd) {
  Mutant mutant("c/request.c", "READ(count_tags, number(org));", "READ(count_labels, number(org));");
  std::string said;
  mutant.context.say = [&](const std::string& line) { said += line + "\n"; };
  std::ostringstream out;
  Status status = workloads_build("request_shape", {"c_sqlite"}, mutant.context, false, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kWorkload);
  EXPECT_NE(status.error().message.find("logs/request_shape-c.log"), std::string::npos) << status.error().message;
  EXPECT_NE(said.find("count_labels"), std::string::npos) << said;
}

TEST(Build, AnAmalgamationWithAnotherHashIsRefused) {
  Mutant mutant("../toolchains/sqlite/sqlite3.sha256", "9512509b", "0512509b");
  std::ostringstream out;
  Status status = workloads_build("request_shape", {"c_sqlite"}, mutant.context, false, out);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("sqlite3.c is not the pinned one"), std::string::npos)
      << status.error().message;
}

TEST(Trace, Verb) {
  BuildContext context = shared_context();
  std::ostringstream out;
  ASSERT_TRUE(workloads_trace("request_shape", "rust_rusqlite", context, out).ok());
  EXPECT_TRUE(out.str().starts_with("admin_item_edit\t1\tstaff_by_id\t"));
  Status unknown = workloads_trace("request_shape", "rust_rusqlit", context, out);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("did you mean \"rust_rusqlite\"?"), std::string::npos);
}

}  // namespace
}  // namespace benchctl::testing_workloads
