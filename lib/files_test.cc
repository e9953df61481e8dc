#include "lib/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "lib/test_folder.h"
#include "lib/text.h"

namespace benchctl {
namespace {

int mode_of(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 ? static_cast<int>(st.st_mode & 07777) : -1;
}

// Runs `body` in a child process, which may give up rights, limits or namespaces; its exit code.
template <typename Body>
int in_child(Body body) {
  pid_t pid = fork();
  if (pid == 0) _exit(body());
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

TEST(Files, ReadFileTakesRegularFilesUpToTheLimit) {
  TestFolder folder;
  ASSERT_TRUE(write_atomic(folder / "f", "12345").ok());
  EXPECT_EQ(*read_file(folder / "f", 5), "12345");
  auto over = read_file(folder / "f", 4);
  ASSERT_FALSE(over.ok());
  EXPECT_NE(over.error().message.find(folder / "f"), std::string::npos);
  EXPECT_FALSE(read_file(folder.path()).ok());
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_FALSE(read_file(folder / "fifo").ok());  // and does not hang
  EXPECT_EQ(read_file(folder / "absent").error().message,
            "open " + (folder / "absent") + ": No such file or directory");
  EXPECT_FALSE(read_pseudo_file("/proc/self/status")->empty());
}

TEST(Files, WriteAtomicReplacesAndSetsTheModeWhateverTheUmask) {
  TestFolder folder;
  mode_t old = umask(077);
  EXPECT_TRUE(write_atomic(folder / "f", "old").ok());
  EXPECT_TRUE(write_atomic(folder / "f", "new", 0644).ok());
  EXPECT_TRUE(make_dirs(folder / "a/b//c/", 0755).ok());
  umask(old);
  EXPECT_EQ(*read_file(folder / "f"), "new");
  EXPECT_EQ(mode_of(folder / "f"), 0644);
  EXPECT_EQ(mode_of(folder / "a"), 0755);
  EXPECT_EQ(mode_of(folder / "a/b/c"), 0755);
  EXPECT_EQ(list_dir(folder.path())->size(), 2u);
}

TEST(Files, AFailedWriteLeavesTheOldContentAndNoLeftover) {
  TestFolder folder;
  ASSERT_TRUE(write_atomic(folder / "f", "old").ok());
  int code = in_child([&] {
    // No file may grow above 4 KiB: the write fails half-way with EFBIG, as a full disk does with ENOSPC.
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
    return write_atomic(folder / "f", std::string(100'000, 'x')).ok() ? 1 : 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(*read_file(folder / "f"), "old");
  EXPECT_EQ(*list_dir(folder.path()), std::vector<std::string>{"f"});
  ASSERT_TRUE(make_dirs(folder / "d/x").ok());
  EXPECT_FALSE(write_atomic(folder / "d", "over a folder").ok());
  EXPECT_EQ(list_dir(folder.path())->size(), 2u);
}

TEST(Files, MakeDirsNamesWhatIsInTheWay) {
  TestFolder folder;
  ASSERT_TRUE(write_atomic(folder / "f", "").ok());
  EXPECT_FALSE(make_dirs(folder / "f").ok());
  auto below = make_dirs(folder / "f/g");
  ASSERT_FALSE(below.ok());
  EXPECT_NE(below.error().message.find(folder / "f"), std::string::npos);
  EXPECT_FALSE(make_dirs("").ok());
}

TEST(Files, OpenBeneathRefusesLinksAndWaysOut) {
  TestFolder folder;
  ASSERT_TRUE(make_dirs(folder / "in/sub").ok());
  ASSERT_TRUE(write_atomic(folder / "in/sub/f", "inside").ok());
  ASSERT_TRUE(write_atomic(folder / "secret", "outside").ok());
  ASSERT_EQ(symlink("../secret", (folder / "in/out").c_str()), 0);
  ASSERT_EQ(symlink("sub/f", (folder / "in/inner").c_str()), 0);
  ASSERT_EQ(symlink("..", (folder / "in/up").c_str()), 0);
  ASSERT_EQ(mkfifo((folder / "in/fifo").c_str(), 0600), 0);
  auto dir = open_dir(folder / "in");
  ASSERT_TRUE(dir.ok());
  EXPECT_TRUE(open_beneath(dir->get(), "sub/f", O_RDONLY).ok());
  EXPECT_TRUE(open_beneath(dir->get(), "sub", O_RDONLY | O_DIRECTORY).ok());
  for (const std::string& bad :
       {std::string("out"), std::string("inner"), std::string("up/secret"), std::string("../secret"),
        std::string("sub/../../secret"), folder / "secret", std::string("/etc/passwd"), std::string("fifo"),
        std::string("absent"), std::string(), std::string("sub/f\0x", 7)})
    EXPECT_FALSE(open_beneath(dir->get(), bad, O_RDONLY).ok()) << bad;
  EXPECT_TRUE(open_beneath(dir->get(), "new", O_WRONLY | O_CREAT | O_EXCL).ok());
  EXPECT_FALSE(open_beneath(dir->get(), "new", O_WRONLY | O_CREAT | O_EXCL).ok());
  EXPECT_FALSE(open_beneath(dir->get(), "up/new", O_WRONLY | O_CREAT | O_EXCL).ok());
  EXPECT_FALSE(exists(folder / "new"));
}

TEST(Files, RemoveTreeTakesLinksAwayButNotWhatTheyName) {
  TestFolder folder;
  ASSERT_TRUE(make_dirs(folder / "kept").ok());
  ASSERT_TRUE(write_atomic(folder / "kept/f", "kept").ok());
  ASSERT_TRUE(make_dirs(folder / "tree/a/b").ok());
  ASSERT_TRUE(write_atomic(folder / "tree/a/b/f", "x").ok());
  ASSERT_EQ(symlink((folder / "kept").c_str(), (folder / "tree/a/link").c_str()), 0);
  ASSERT_EQ(symlink((folder / "kept").c_str(), (folder / "link").c_str()), 0);
  EXPECT_TRUE(remove_tree(folder / "tree").ok());
  EXPECT_FALSE(exists(folder / "tree"));
  EXPECT_TRUE(remove_tree(folder / "link/").ok() || exists(folder / "link"));  // a trailing slash must not follow it
  EXPECT_TRUE(exists(folder / "kept/f"));
  EXPECT_TRUE(remove_tree(folder / "link").ok());
  EXPECT_FALSE(exists(folder / "link"));
  EXPECT_TRUE(exists(folder / "kept/f"));
  EXPECT_TRUE(remove_tree(folder / "absent").ok());
}

TEST(Files, RemoveTreeStopsAtAMountEvenOfTheSameFileSystem) {
  TestFolder folder;
  ASSERT_TRUE(make_dirs(folder / "kept").ok());
  ASSERT_TRUE(write_atomic(folder / "kept/f", "kept").ok());
  ASSERT_TRUE(make_dirs(folder / "tree/mount").ok());
  int code = in_child([&] {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    if (mount((folder / "kept").c_str(), (folder / "tree/mount").c_str(), nullptr, MS_BIND, nullptr) != 0) return 77;
    auto removed = remove_tree(folder / "tree");
    if (removed.ok()) return 1;
    return removed.error().message.find("mount") != std::string::npos ? 0 : 2;
  });
  if (code == 77) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(exists(folder / "kept/f"));
}

TEST(Files, SafeRelativePaths) {
  for (const char* good : {"a", "a/b.c", "..a", "a..", ".hidden", "é"}) EXPECT_TRUE(safe_relative_path(good)) << good;
  for (const std::string& bad :
       {std::string(), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("."), std::string(".."),
        std::string("a/../b"), std::string("a/."), std::string("a\\b"), std::string("a\nb"), std::string("a\x7f"),
        std::string("a\0b", 3), std::string(1025, 'a'), std::string(256, 'a'),
        std::string("1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17")})
    EXPECT_FALSE(safe_relative_path(bad)) << bad;
}

TEST(Files, ALockNamesItsHolderAndEndsWithIt) {
  TestFolder folder;
  {
    auto first = FileLock::take(folder / "lock", "run r1, pid 7\n");
    ASSERT_TRUE(first.ok());
    auto second = FileLock::take(folder / "lock", "run r2");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().message, "held by run r1, pid 7");
    EXPECT_EQ(second.error().kind, ErrorKind::kInterrupted);
  }
  auto third = FileLock::take(folder / "lock", "r3");
  ASSERT_TRUE(third.ok());
  EXPECT_EQ(*read_file(folder / "lock"), "r3");  // nothing of the longer text before it
}

TEST(Files, ALockWithoutWordsStillSaysThatItIsHeld) {
  TestFolder folder;
  auto first = FileLock::take(folder / "lock", "");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(FileLock::take(folder / "lock", "x").error().message, "held by a process that did not say its name");
}

TEST(Files, ListIsSortedAndFreeSpaceIsKnown) {
  TestFolder folder;
  for (const char* name : {"b", "a", "c"}) ASSERT_TRUE(write_atomic(folder / name, "").ok());
  EXPECT_EQ(*list_dir(folder.path()), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_GT(*free_bytes(folder.path()), 0);
  EXPECT_FALSE(list_dir(folder / "absent").ok());
  EXPECT_FALSE(free_bytes(folder / "absent").ok());
}

}  // namespace
}  // namespace benchctl
