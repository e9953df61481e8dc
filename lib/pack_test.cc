#include "lib/pack.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/test_folder.h"

namespace benchctl {
namespace {

std::string pack_of(const std::string& root, const std::vector<std::string>& paths = {}) {
  std::string bytes;
  auto status = write_pack(root, paths, [&](std::string_view part) {
    bytes += part;
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.error().message;
  return bytes;
}

// The first problem of reading `bytes` in pieces; "" when all was well.
std::string unpack(const std::string& bytes, const std::string& folder, size_t piece = 4096, PackCaps caps = {}) {
  PackReader reader(folder, caps);
  for (size_t at = 0; at < bytes.size(); at += piece)
    if (auto fed = reader.feed(std::string_view(bytes).substr(at, piece)); !fed) return fed.error().message;
  auto done = reader.done();
  return done ? "" : done.error().message;
}

std::string line(const std::string& path, const std::string& content, const std::string& mode = "644") {
  return sha256_hex(content) + " " + std::to_string(content.size()) + " " + mode + " " + path + "\n";
}
std::string head(int count) {
  return "benchctl-pack 1 " + std::to_string(count) + "\n";
}

class Pack : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_dirs(folder_ / "tree/bin").ok());
    ASSERT_TRUE(make_dirs(folder_ / "out").ok());
    ASSERT_TRUE(write_atomic(folder_ / "tree/bin/tool", "#!/bin/sh\n", 0755).ok());
    ASSERT_TRUE(write_atomic(folder_ / "tree/empty", "").ok());
    ASSERT_TRUE(write_atomic(folder_ / "tree/z", std::string(200'000, 'z')).ok());
  }
  TestFolder folder_;
};

TEST_F(Pack, RoundTripInAnyPieces) {
  std::string bytes = pack_of(folder_ / "tree");
  for (size_t piece : {size_t{1}, size_t{7}, size_t{65'536}, bytes.size()}) {
    std::string out = folder_ / ("out/" + std::to_string(piece));
    ASSERT_TRUE(make_dirs(out).ok());
    ASSERT_EQ(unpack(bytes, out, piece), "");
    EXPECT_EQ(format_manifest(*scan_tree(out, {})), format_manifest(*scan_tree(folder_ / "tree", {})));
    EXPECT_EQ(access((out + "/bin/tool").c_str(), X_OK), 0);
    EXPECT_EQ(*read_file(out + "/empty"), "");
  }
}

TEST_F(Pack, OthersCanReadWhatWasUnpackedWhateverTheUmask) {
  std::string bytes = pack_of(folder_ / "tree");
  mode_t old = umask(077);
  std::string problem = unpack(bytes, folder_ / "out");
  umask(old);
  ASSERT_EQ(problem, "");
  for (const auto& [path, mode] : {std::pair{"bin", 0755}, {"bin/tool", 0755}, {"z", 0644}}) {
    struct stat st {};
    ASSERT_EQ(stat((folder_ / ("out/" + std::string(path))).c_str(), &st), 0);
    EXPECT_EQ(static_cast<int>(st.st_mode & 0777), mode) << path;
  }
}

TEST_F(Pack, ChosenPathsOnlyAndAnEmptyPack) {
  std::string bytes = pack_of(folder_ / "tree", {"z", "empty"});
  ASSERT_EQ(unpack(bytes, folder_ / "out"), "");
  EXPECT_EQ(*list_dir(folder_ / "out"), (std::vector<std::string>{"empty", "z"}));
  ASSERT_TRUE(make_dirs(folder_ / "nothing").ok());
  EXPECT_EQ(pack_of(folder_ / "nothing"), "benchctl-pack 1 0\n\n");
  EXPECT_EQ(unpack("benchctl-pack 1 0\n\n", folder_ / "nothing"), "");
  EXPECT_FALSE(scan_tree(folder_ / "tree", {"../tree/z"}).ok());
  EXPECT_FALSE(scan_tree(folder_ / "tree", {"absent"}).ok());
}

TEST_F(Pack, LinksStayInTheTreeOrAreRefused) {
  ASSERT_EQ(symlink("../z", (folder_ / "tree/bin/z").c_str()), 0);
  ASSERT_EQ(unpack(pack_of(folder_ / "tree"), folder_ / "out"), "");
  EXPECT_EQ(read_file(folder_ / "out/bin/z")->size(), 200'000u);
  ASSERT_TRUE(write_atomic(folder_ / "secret", "secret").ok());
  for (const std::string& target : {std::string("../secret"), folder_ / "secret", std::string("/etc/passwd")}) {
    ASSERT_EQ(symlink(target.c_str(), (folder_ / "tree/out").c_str()), 0);
    auto scanned = scan_tree(folder_ / "tree", {});
    EXPECT_FALSE(scanned.ok()) << target;
    unlink((folder_ / "tree/out").c_str());
  }
  ASSERT_EQ(symlink("bin", (folder_ / "tree/folder-link").c_str()), 0);
  EXPECT_FALSE(scan_tree(folder_ / "tree", {}).ok());
}

TEST_F(Pack, SpecialFilesAreRefused) {
  ASSERT_EQ(mkfifo((folder_ / "tree/fifo").c_str(), 0600), 0);
  EXPECT_FALSE(scan_tree(folder_ / "tree", {}).ok());
}

TEST_F(Pack, HostilePathsAreRefusedBeforeAnythingIsWritten) {
  for (const char* path : {"../x", "/etc/x", "a/../../x", "a//b", "./a", "a\x1b[2J", "a\rb", "a\\b", "", "a/"}) {
    std::string problem = unpack(head(1) + line(path, "x") + "\nx", folder_ / "out");
    EXPECT_NE(problem, "") << path;
    EXPECT_EQ(problem.find('\x1b'), std::string::npos);
  }
  EXPECT_TRUE(list_dir(folder_ / "out")->empty());
  EXPECT_FALSE(exists(folder_ / "x"));
}

TEST_F(Pack, HostileManifestsAreRefused) {
  const std::string good = line("a", "x");
  for (const std::string& text : {
           head(2) + good + good,              // the same path twice
           head(2) + good + line("a/b", "x"),  // file and folder
           head(2) + line("a/b", "x") + good,  // in the other order
           head(2) + good,                     // fewer lines than said
           head(0) + good,                     // more
           head(-1),
           std::string("benchctl-pack 1 x\n"),             //
           std::string("benchctl-pack 2 0\n"),             // another version
           std::string("benchctl-pack 1 0"),               // cut
           head(1) + std::string(64, 'g') + " 1 644 a\n",  // no hash
           head(1) + sha256_hex("x") + " -1 644 a\n",      // negative
           head(1) + sha256_hex("x") + " 1 777 a\n",       // unknown mode
           head(1) + sha256_hex("x") + " 1 644\n",         // no path
           head(1) + sha256_hex("x") + " 99999999999999999999 644 a\n",
       })
    EXPECT_FALSE(parse_manifest(text, {}).ok()) << text;
  EXPECT_TRUE(parse_manifest(head(1) + good, {}).ok());
}

TEST_F(Pack, CapsHold) {
  std::string two = head(2) + line("a", "xxx") + line("b", "xxx");
  EXPECT_TRUE(parse_manifest(two, {.files = 2, .file_bytes = 3, .total_bytes = 6}).ok());
  EXPECT_FALSE(parse_manifest(two, {.files = 1}).ok());
  EXPECT_FALSE(parse_manifest(two, {.file_bytes = 2}).ok());
  EXPECT_FALSE(parse_manifest(two, {.total_bytes = 5}).ok());
  std::string huge = sha256_hex("x") + " 9223372036854775807 644 ";
  EXPECT_FALSE(
      parse_manifest(head(2) + huge + "a\n" + huge + "b\n", {.file_bytes = INT64_MAX, .total_bytes = INT64_MAX})
          .ok());  // the sum does not overflow
}

TEST_F(Pack, MoreFewerOrOtherBytesThanDeclaredAreRefused) {
  std::string manifest = head(2) + line("a", "xx") + line("b", "yy") + "\n";
  auto fresh = [&, n = 0]() mutable {
    std::string path = folder_ / ("out/" + std::to_string(n++));
    EXPECT_TRUE(make_dirs(path).ok());
    return path;
  };
  EXPECT_EQ(unpack(manifest + "xxyy", fresh()), "");
  EXPECT_EQ(unpack(manifest + "xxyyz", fresh()), "pack: more bytes than declared");
  EXPECT_EQ(unpack(manifest + "xxy", fresh()), "pack: cut short");
  EXPECT_EQ(unpack(manifest, fresh()), "pack: cut short");
  EXPECT_EQ(unpack(manifest.substr(0, 40), fresh()), "pack: cut short");
  EXPECT_EQ(unpack("", fresh()), "pack: cut short");
  EXPECT_EQ(unpack(manifest + "xxyz", fresh()), "pack: b: sha256 differs from the manifest");
  EXPECT_EQ(unpack("GET / HTTP/1.1\r\nHost: x\r\n", fresh()), "pack: not a pack of version 1");
  ASSERT_TRUE(write_atomic(folder_ / "out/a", "mine").ok());
  EXPECT_NE(unpack(manifest + "xxyy", folder_ / "out"), "");  // never over a file that is there
  EXPECT_EQ(*read_file(folder_ / "out/a"), "mine");
}

TEST_F(Pack, AfterAFailureEverythingIsRefused) {
  PackReader reader(folder_ / "out", {});
  ASSERT_TRUE(reader.feed(head(2) + line("a", "x") + line("b", "y") + "\n").ok());
  auto failed = reader.feed("?");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(reader.feed("xy").error().message, failed.error().message);
  EXPECT_EQ(reader.done().error().message, failed.error().message);
}

TEST_F(Pack, ASinkThatFailsEndsTheWriting) {
  int calls = 0;
  auto status = write_pack(folder_ / "tree", {}, [&](std::string_view) {
    return ++calls == 2 ? Status(Error{ErrorKind::kProvisioning, "pipe broke"}) : Status();
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "pipe broke");
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace benchctl
