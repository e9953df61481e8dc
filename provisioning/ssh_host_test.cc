#include "provisioning/ssh_host.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/files.h"
#include "lib/test_folder.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

TEST(SshHost, AddressesAndNames) {
  for (const char* good :
       {"10.0.0.7", "::1", "fd00::7", "fe80::1%eth0", "bench7", "a.b-c.example.org", "xn--bcher-kva"})
    EXPECT_TRUE(valid_ssh_host(good)) << good;
  for (const char* bad :
       {"", "-oProxyCommand=x", "a b", "a..b", ".a", "a.", "10.0.0.700", "1.2.3", "127.1", "fd00::7::1", "[::1]",
        "fe80::1%", "fe80::1%a b", "a/b", "a;b", "a\nb", "a-.b", "user@host", "ho\xc3\xa9"})
    EXPECT_FALSE(valid_ssh_host(bad)) << bad;
  EXPECT_FALSE(valid_ssh_host(std::string(64, 'a')));
}

TEST(SshHost, UsersAndHostKeys) {
  EXPECT_TRUE(valid_ssh_user("bench"));
  for (const char* bad : {"", "-l", "a b", "a@b", "a\n"}) EXPECT_FALSE(valid_ssh_user(bad)) << bad;
  EXPECT_TRUE(valid_host_key("SHA256:" + std::string(42, 'a') + "/"));
  EXPECT_FALSE(valid_host_key("SHA256:" + std::string(42, 'a')));
  EXPECT_FALSE(valid_host_key("SHA256:" + std::string(42, 'a') + "="));
  EXPECT_FALSE(valid_host_key("MD5:" + std::string(43, 'a')));
}

TEST(SshHost, WordsOfTheCommandLine) {
  auto text = [](const char* word) {
    auto host = parse_ssh_host(word);
    return host ? host->user + "|" + host->host + "|" + std::to_string(host->port) : "error";
  };
  EXPECT_EQ("|bench7|22", text("bench7"));
  EXPECT_EQ("me|10.0.0.7|2222", text("me@10.0.0.7:2222"));
  EXPECT_EQ("|fd00::7|22", text("fd00::7"));
  EXPECT_EQ("me|fd00::7|22", text("me@[fd00::7]"));
  EXPECT_EQ("me|fd00::7|2222", text("me@[fd00::7]:2222"));
  for (const char* bad :
       {"", "@a", "a b@c", "a:", "a:0", "a:65536", "a:+22", "a:22:", "[a]:22", "[::1", "[::1]22", "me@", "-oX@a", "-a"})
    EXPECT_EQ("error", text(bad)) << bad;
  EXPECT_EQ("[fd00::7]:22", host_and_port("fd00::7", 22));
}

class KeyFileTest : public ::testing::Test {
 protected:
  std::string make(const std::string& name, std::vector<std::string> more) {
    std::string path = folder_.path() + "/" + name;
    std::vector<std::string> argv = {"ssh-keygen", "-q", "-f", path, "-N"};
    argv.insert(argv.end(), more.begin(), more.end());
    SystemClock clock;
    auto made = run_checked({.argv = argv, .deadline = Deadline::in(clock, std::chrono::seconds(60))}, clock);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return path;
  }
  std::string why(const std::string& path) {
    auto key = read_private_key(path);
    if (key.ok()) return "good";
    EXPECT_EQ(ErrorKind::kUsage, key.error().kind);
    return key.error().message;
  }
  TestFolder folder_;
};

TEST_F(KeyFileTest, OnlyAPrivateUnprotectedKeyOfOurOwn) {
  std::string plain = make("plain", {"", "-t", "ed25519"});
  EXPECT_EQ("good", why(plain));
  EXPECT_EQ(*read_file(plain), *read_private_key(plain));
  EXPECT_EQ("good", why(make("pem", {"", "-t", "ecdsa", "-m", "PEM"})));
  EXPECT_NE(std::string::npos, why(make("locked", {"secret", "-t", "ed25519"})).find("passphrase"));
  EXPECT_NE(std::string::npos, why(make("locked-pem", {"secret", "-t", "ecdsa", "-m", "PEM"})).find("passphrase"));
  EXPECT_NE(std::string::npos, why(make("locked-8", {"secret", "-t", "ecdsa", "-m", "PKCS8"})).find("passphrase"));
  ASSERT_EQ(0, chmod((plain + ".pub").c_str(), 0600));
  EXPECT_NE(std::string::npos, why(plain + ".pub").find("public half"));
  ASSERT_EQ(0, chmod(plain.c_str(), 0640));
  EXPECT_NE(std::string::npos, why(plain).find("chmod 600"));
  ASSERT_EQ(0, chmod(plain.c_str(), 0400));
  EXPECT_EQ("good", why(plain));
  ASSERT_EQ(0, mkfifo((plain + ".pipe").c_str(), 0600));
  EXPECT_NE(std::string::npos, why(plain + ".pipe").find("not a regular file"));
  EXPECT_NE(std::string::npos, why(folder_.path()).find("not a regular file"));
  EXPECT_NE(std::string::npos, why(plain + ".missing").find("No such file"));
  if (geteuid() != 0) GTEST_SKIP() << "needs root for another user's file";
  ASSERT_EQ(0, chown(plain.c_str(), 1, 1));
  EXPECT_NE(std::string::npos, why(plain).find("another user"));
}

}  // namespace
}  // namespace benchctl
