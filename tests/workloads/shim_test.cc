// The file shim of the engine variants, by tests/workloads/shim/: power cuts, full disks, killed processes; and the
// same experiments on shims that are broken on purpose, each of which must fail.
#include <gtest/gtest.h>

#include <functional>

#include "tests/workloads/runners.h"

namespace benchctl::testing_workloads {
namespace {

constexpr char kShim[] = BENCHCTL_SOURCE_DIR "/workloads/engine/shim";
constexpr char kLab[] = BENCHCTL_SOURCE_DIR "/tests/workloads/shim";

// A fault to put into a copy of the shim: `text` of `file` becomes `broken`.
struct Fault {
  std::string file, text, broken;
};

void copy_shim(const std::string& folder, const Fault& fault) {
  auto names = list_dir(kShim);
  ASSERT_TRUE(names.ok());
  for (const std::string& name : *names) {
    auto text = read_file(std::string(kShim) + "/" + name);
    ASSERT_TRUE(text.ok());
    if (name == fault.file) {
      size_t at = text->find(fault.text);
      ASSERT_NE(at, std::string::npos) << name << " no longer has: " << fault.text;
      text->replace(at, fault.text.size(), fault.broken);
    }
    write_file(folder + "/" + name, *text);
  }
}

// Builds the laboratory over the shim in `shim`, a folder that ends in workloads/engine/shim, into `program`.
void build_lab(const std::string& root, const std::string& program, const std::string& warnings) {
  BuildContext context = shared_context();
  auto tools = c_toolchains(context);
  ASSERT_FALSE(tools["CC"].empty() || tools["SQLITE_DIR"].empty());
  std::string sqlite = tools["SQLITE_DIR"];
  std::vector<std::string> argv = {
      tools["CC"], "-std=c11",  "-D_GNU_SOURCE",          "-O1",      "-g",  "-Wall", "-Wextra", "-Werror",
      warnings,    "-I" + root, "-I" + std::string(kLab), "-isystem", sqlite};
  for (const std::string& folder : {std::string(kLab), root + "/workloads/engine/shim"}) {
    auto names = list_dir(folder);
    ASSERT_TRUE(names.ok());
    for (const std::string& name : *names)
      if (name.ends_with(".c")) argv.push_back(folder + "/" + name);
  }
  argv.insert(argv.end(), {sqlite + "/libsqlite3.a", "-lm", "-lpthread", "-o", program});
  CommandResult built = run_in(root, argv);
  ASSERT_TRUE(built.ok()) << built.errors;
}

CommandResult experiment(const std::string& program, std::vector<std::string> words) {
  TempDir folder;
  words.insert(words.begin() + 1, folder.path());
  words.insert(words.begin(), program);
  return run_in(folder.path(), words);
}

const std::string& lab() {
  static const std::string program = [] {
    std::string path = BENCHCTL_BINARY_DIR "/shim-lab";
    build_lab(BENCHCTL_SOURCE_DIR, path, "-Werror");
    return path;
  }();
  return program;
}

struct Experiment {
  const char* name;
  std::vector<std::string> words;
};

void PrintTo(const Experiment& experiment, std::ostream* out) {
  *out << experiment.name;
}

class Shim : public testing::TestWithParam<Experiment> {};

TEST_P(Shim, LosesNothing) {
  CommandResult ended = experiment(lab(), GetParam().words);
  EXPECT_TRUE(ended.ok()) << ended.errors;
  std::cerr << ended.output;
}

INSTANTIATE_TEST_SUITE_P(In, Shim,
                         testing::Values(Experiment{"databases_born_in_wal", {"born"}},
                                         Experiment{"power_cuts_full", {"crash", "FULL"}},
                                         Experiment{"power_cuts_normal", {"crash", "NORMAL"}},
                                         Experiment{"full_disks_full", {"full", "FULL"}},
                                         Experiment{"full_disks_normal", {"full", "NORMAL"}},
                                         Experiment{"killed_writers_full", {"killed", "FULL", "20"}},
                                         Experiment{"killed_writers_normal", {"killed", "NORMAL", "20"}},
                                         Experiment{"two_writers_and_a_reader", {"writers"}}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(ShimCounts, AThousandPagesLeaveInFewWrites) {
  CommandResult ended = experiment(lab(), {"counts"});
  ASSERT_TRUE(ended.ok()) << ended.errors;
  // 1,003 frames of 24 + 4096 bytes, fifteen to a buffer.
  EXPECT_EQ(trim(ended.output), "67");
}

struct Mutant {
  const char* name;
  std::vector<std::string> words;  // the experiment that must see it
  Fault fault;
};

void PrintTo(const Mutant& mutant, std::ostream* out) {
  *out << mutant.name;
}

class ShimMutant : public testing::TestWithParam<Mutant> {};

TEST_P(ShimMutant, IsCaught) {
  TempDir root;
  const std::string folder = root.path() + "/workloads/engine/shim";
  ASSERT_TRUE(make_dirs(folder).ok());
  copy_shim(folder, GetParam().fault);
  build_lab(root.path(), root.path() + "/lab", "-w");
  if (HasFatalFailure()) return;
  CommandResult ended = experiment(root.path() + "/lab", GetParam().words);
  EXPECT_FALSE(ended.ok()) << "nothing was noticed";
}

INSTANTIATE_TEST_SUITE_P(
    Of, ShimMutant,
    testing::Values(
        // The commit would leave at the barrier, which cannot tell of a full disk.
        Mutant{"commits_not_flushed",
               {"full", "NORMAL"},
               {"wal_buffer.c", "return commit_complete ? write_out(buffer, file) : SQLITE_OK;", "return SQLITE_OK;"}},
        Mutant{"checksums_behind_the_commit_wait",
               {"full", "NORMAL"},
               {"wal_buffer.c", "offset < buffer->written_end", "0"}},
        Mutant{"a_lost_spill_is_forgotten", {"full", "NORMAL"}, {"wal_buffer.c", "buffer->error = rc;", ""}},
        Mutant{"nothing_is_flushed_but_when_full",
               {"killed", "NORMAL", "20"},
               {"wal_buffer.c", "if (buffer->used == 0) return SQLITE_OK;",
                "if (buffer->used < WAL_BUFFER_SIZE - 1100) return SQLITE_OK;"}},
        Mutant{"reads_pass_the_buffer_by",
               {"crash", "FULL"},
               {"shim.c", "if (shim->is_wal) return wal_buffer_read", "if (0) return wal_buffer_read"}},
        Mutant{"birth_is_not_announced", {"born"}, {"wal_birth.c", "birth->announce = 1;", ""}},
        Mutant{"chosen_modes_are_overruled", {"born"}, {"wal_birth.c", "|| birth->declined ", ""}},
        Mutant{"databases_of_others_are_marked",
               {"born"},
               {"wal_birth.c", "birth->unborn = 0;\n}\n\nvoid wal_birth_pragma", ";\n}\n\nvoid wal_birth_pragma"}}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace benchctl::testing_workloads
