#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
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
  context.say = [&](const std::string& line) {
    if (line.find("/gleam is not built: ") == std::string::npos) ++said;
  };
  auto second = build_bundles(*workload, {}, context);
  ASSERT_TRUE(second.ok()) << second.error().message;
  ASSERT_EQ(first->size(), workload->builds.size() - (has_gleam() ? 0 : 1));
  ASSERT_EQ(second->size(), first->size());
  EXPECT_EQ(said, 0);
  for (size_t i = 0; i < first->size(); ++i) {
    EXPECT_FALSE((*second)[i].built);
    EXPECT_EQ((*first)[i].sha256, (*second)[i].sha256);
    auto entries = scan_tree((*second)[i].folder, {});
    ASSERT_TRUE(entries.ok());
    EXPECT_EQ(sha256_hex(format_manifest(*entries)), (*second)[i].sha256);
    const Json& manifest = (*second)[i].manifest;
    const std::string build = (*second)[i].build;
    const bool linked_dynamically = build == "bun" || build == "gleam";
    EXPECT_EQ(manifest["isa"].as_string(), "x86-64-v2");
    EXPECT_EQ(manifest["min_glibc"].as_string() == "none", !linked_dynamically) << build;
    const Json& toolchains = manifest["toolchains"];
    if (build == "go") {  // its driver brings an SQLite of its own
      EXPECT_TRUE(toolchains["go"]["GO_VERSION"].as_string().starts_with("go1."));
      continue;
    }
    if (linked_dynamically) {  // so do these two
      EXPECT_FALSE(toolchains[build][build == "bun" ? "BUN_VERSION" : "GLEAM_VERSION"].as_string().empty()) << build;
      continue;
    }
    EXPECT_EQ(toolchains["sqlite"]["SQLITE_VERSION"].as_string(), "3.51.3");
    EXPECT_FALSE(toolchains["cc"]["CC_VERSION"].as_string().empty());
  }
}

TEST(Build, ProgramsAreStaticAndNameNoFolderOfThisComputer) {
  for (const std::string& arm : runners()) {
    // Bun's own program and the BEAM's are linked with the C library.
    if (arm == "bun_sqlite" || arm == "gleam_sqlite") continue;
    std::string program = command(arm)[0];
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

// What is inside the bundle is all that it takes of npm and Bun: nothing that lies in the working directory changes it.
TEST(Build, BunsProgramStandsAloneAndNeedsTheGlibcThatItsRecipeSays) {
  const std::string program = command("bun_sqlite")[0];
  TempDir folder;
  write_file(folder.path() + "/bunfig.toml", "preload = [\"./bad.js\"]\n");
  write_file(folder.path() + "/bad.js", "process.exit(9);\n");
  write_file(folder.path() + "/.env", "BENCHCTL_OUT=/absent\n");
  const Words words = {"--mode", "concurrent", "--workload", "read",     "--workers",
                       "1",      "--duration", "0.05",       "--warmup", "0"};
  CommandResult ended = run_in(folder.path(), Words{program} + words);
  EXPECT_TRUE(ended.ok()) << ended.errors;
  auto workload = load_workload(BENCHCTL_SOURCE_DIR "/workloads/request_shape");
  ASSERT_TRUE(workload.ok());
  CommandResult symbols =
      run_in("/", {"sh", "-c", "objdump -T \"$0\" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1", program});
  EXPECT_EQ(symbols.output, "GLIBC_" + workload->build("bun")->min_glibc + "\n");
}

TEST(Check, Agrees) {
  BuildContext context = shared_context();
  std::ostringstream out;
  Status status = workloads_check("request_shape", {}, context, out);
  ASSERT_TRUE(status.ok()) << status.error().message;
  const std::string arms = has_gleam() ? "(8 arms, 1000 items, traces identical)"
                                       : "(6 arms, 1000 items, traces identical; 2 not run here, see above)";
  EXPECT_NE(out.str().find("request_shape: checks agree " + arms + "\n"), std::string::npos) << out.str();
}

TEST(Check, ASkippedReadIsCaughtByTrace) {
  Mutant mutant("c/request.c", "    EDIT_READ(count_tags, number(org));\n", "");
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
  Mutant mutant("c/request.c", "    EDIT_READ(count_tags, number(org));\n",
                "    if (item < 50) EDIT_READ(count_tags, number(org));\n");
  std::ostringstream out;
  Status status = workloads_check("request_shape", {}, mutant.context, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kWorkload);
  EXPECT_NE(status.error().message.find("rust_rusqlite: its check of app_request/admin_item_edit is "),
            std::string::npos)
      << status.error().message;
}

TEST(Build, AFailingStepNamesItsLogAndShowsItsEnd) {
  Mutant mutant("c/request.c", "EDIT_READ(count_tags, number(org));", "EDIT_READ(count_labels, number(org));");
  std::string said;
  mutant.context.say = [&](const std::string& line) { said += line + "\n"; };
  std::ostringstream out;
  Status status = workloads_build("request_shape", {.arms = {"c_sqlite"}}, mutant.context, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kWorkload);
  EXPECT_NE(status.error().message.find("logs/request_shape-c.log"), std::string::npos) << status.error().message;
  EXPECT_NE(said.find("count_labels"), std::string::npos) << said;
}

// Everything is fetched by then: changed sources are built again where there is no network at all.
TEST(Build, WorksWithoutANetworkOnceFetched) {
  const std::vector<std::string> arms = {"c_sqlite", "rust_rusqlite", "zig_sqlite", "go_ncruces"};
  BuildContext online = shared_context();
  auto workload = load_workload(online.root + "/request_shape");
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  auto fetched = build_bundles(*workload, arms, online);
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  // Sources that no earlier run of this test has built: bundles stay in the cache.
  const std::string offline = "\n// offline " + std::to_string(getpid()) + " " + std::to_string(time(nullptr)) + "\n";
  Mutant mutant("c/request.c", "  READ(count_tags, number(org));\n", "  READ(count_tags, number(org));" + offline);
  for (const char* source : {"rust/src/main.rs", "zig/main.zig", "go/main.go"}) {
    const std::string path = mutant.context.root + "/request_shape/" + source;
    auto text = read_file(path);
    ASSERT_TRUE(text.ok()) << text.error().message;
    write_file(path, *text + offline);
  }
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (unshare(geteuid() == 0 ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(75);
    auto changed = load_workload(mutant.context.root + "/request_shape");
    auto made = changed ? build_each(*changed, arms, {}, mutant.context) : Result<Builds>(changed.error());
    if (!made) _exit(1);
    int built = 0;
    for (const Bundle& bundle : made->bundles) built += bundle.built ? 1 : 0;
    for (const NotBuilt& missing : made->missing) std::cerr << missing.why.message << "\n";
    _exit(built == static_cast<int>(made->bundles.size()) && made->missing.empty() ? 0 : 2);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 75) GTEST_SKIP() << "no namespaces here";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Build, AnAmalgamationWithAnotherHashIsRefused) {
  Mutant mutant("../toolchains/sqlite/sqlite3.sha256", "9512509b", "0512509b");
  std::ostringstream out;
  Status status = workloads_build("request_shape", {.arms = {"c_sqlite"}}, mutant.context, out);
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
