#include "lib/secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/files.h"
#include "lib/test_folder.h"

namespace benchctl {
namespace {

static_assert(!std::is_copy_constructible_v<Secret>);

// In a program of its own (this one again): only an environment that the kernel laid down shows in /proc.
int child_main() {
  Secrets secrets =
      scrub_environment([](std::string_view name) { return name == "KEPT" || name == "PATH"; }, {"TOKEN", "EMPTY"});
  auto seen = read_pseudo_file("/proc/self/environ");
  if (!seen || seen->find("canary") != std::string::npos) return 3;
  if (seen->find("KEPT=yes") == std::string::npos) return 4;
  if (secrets.size() != 1 || secrets.at("TOKEN").reveal() != "canary-1") return 5;
  if (getenv("TOKEN") != nullptr || getenv("OTHER") != nullptr || getenv("KEPT") == nullptr) return 6;
  return 0;
}

TEST(Secret, WhatIsTakenIsInNoEnvironmentAnyMore) {
  if (getenv("BENCHCTL_CHILD") != nullptr) _exit(child_main());
  pid_t child = fork();
  if (child == 0) {
    const char* argv[] = {"lib_test", "--gtest_filter=Secret.WhatIsTakenIsInNoEnvironmentAnyMore", nullptr};
    const char* env[] = {"KEPT=yes",       "TOKEN=canary-1",   "TOKEN=canary-2", "EMPTY=",
                         "OTHER=canary-3", "BENCHCTL_CHILD=1", "PATH=/bin",      nullptr};
    execve("/proc/self/exe", const_cast<char**>(argv), const_cast<char**>(env));
    _exit(99);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Secret, MovesWithoutACopy) {
  Secret one("abc");
  const char* place = one.reveal().data();
  Secret two(std::move(one));
  EXPECT_EQ(two.reveal(), "abc");
  EXPECT_EQ(two.reveal().data(), place);
  EXPECT_EQ(one.reveal(), "");  // NOLINT: what is left after the move is the point
}

TEST(Secret, FilesMustBePrivateAndHoldOneWord) {
  TestFolder folder;
  std::string path = folder.path() + "/token";
  auto with = [&](const std::string& content, mode_t mode) {
    EXPECT_TRUE(write_atomic(path, content, static_cast<int>(mode)).ok());
    auto secret = read_secret_file(path);
    return secret ? "=" + std::string(secret->reveal()) : secret.error().message;
  };
  EXPECT_EQ(with("abc-1\n", 0600), "=abc-1");
  EXPECT_EQ(with("abc-1", 0400), "=abc-1");
  EXPECT_NE(with("abc-1", 0640).find("chmod 600"), std::string::npos);
  EXPECT_NE(with("abc-1", 0604).find("chmod 600"), std::string::npos);
  EXPECT_NE(with("", 0600).find("empty"), std::string::npos);
  EXPECT_NE(with("abc\ndef", 0600).find("more than one word"), std::string::npos);
  std::string large = with(std::string(20 << 10, 'x'), 0600);
  EXPECT_NE(large.find("larger"), std::string::npos);
  EXPECT_EQ(large.find("xxx"), std::string::npos);
  ASSERT_EQ(symlink(path.c_str(), (folder.path() + "/link").c_str()), 0);
  EXPECT_FALSE(read_secret_file(folder.path() + "/link").ok());
  EXPECT_FALSE(read_secret_file(folder.path()).ok());
}

}  // namespace
}  // namespace benchctl
