#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>

#include "lib/files.h"
#include "lib/json.h"
#include "lib/text.h"
#include "provisioning/cloud_init/ssh_identity.h"
#include "provisioning/cloud_init/user_data.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

TEST(UserData, HoldsKeysAndMarkerAndNoOtherWayIn) {
  Bootstrap bootstrap = make_bootstrap({"PRIVATE\nKEY\n", "ssh-ed25519 HOST c"}, "ssh-ed25519 CLIENT c");
  ASSERT_EQ(bootstrap.user_data.rfind("#cloud-config\n", 0), 0U);
  auto config = Json::parse(bootstrap.user_data.substr(bootstrap.user_data.find('\n')));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ((*config)["ssh_keys"]["ed25519_private"].as_string(), "PRIVATE\nKEY\n");
  EXPECT_EQ((*config)["ssh_keys"]["ed25519_public"].as_string(), "ssh-ed25519 HOST c");
  EXPECT_TRUE((*config)["ssh_deletekeys"].as_bool());
  EXPECT_FALSE((*config)["ssh_pwauth"].as_bool(true));
  ASSERT_EQ((*config)["users"].as_array().size(), 1U);
  EXPECT_EQ((*config)["users"].as_array()[0]["ssh_authorized_keys"].as_strings(),
            std::vector<std::string>{"ssh-ed25519 CLIENT c"});
  EXPECT_NE((*config)["runcmd"].dump().find(bootstrap.marker), std::string::npos);
}

TEST(UserData, HostileCommentStaysInItsString) {
  std::string hostile = "ssh-ed25519 X c\"\nruncmd: [[reboot]]\n#";
  auto text = make_bootstrap({"p", "q"}, hostile).user_data;
  auto config = Json::parse(text.substr(text.find('\n')));
  ASSERT_TRUE(config.ok());
  EXPECT_EQ((*config)["users"].as_array()[0]["ssh_authorized_keys"].as_strings()[0], hostile);
  EXPECT_EQ(split(trim(text), '\n').size(), 2U);
}

TEST(SshIdentity, FingerprintIsTheOneThatSshKeygenPrints) {
  SystemClock clock;
  auto identity = make_ssh_identity("benchctl", clock);
  ASSERT_TRUE(identity.ok()) << identity.error().message;
  EXPECT_NE(identity->private_key.find("OPENSSH PRIVATE KEY"), std::string::npos);
  auto other = make_ssh_identity("benchctl", clock);
  ASSERT_TRUE(other.ok());
  EXPECT_NE(other->private_key, identity->private_key);

  CommandSpec spec;
  spec.argv = {"ssh-keygen", "-l", "-f", "/dev/stdin"};
  spec.input = identity->public_key + "\n";
  spec.deadline = Deadline::in(clock, std::chrono::seconds(20));
  auto printed = run_checked(spec, clock);
  ASSERT_TRUE(printed.ok()) << printed.error().message;
  auto fingerprint = ssh_fingerprint(identity->public_key);
  ASSERT_TRUE(fingerprint.ok());
  EXPECT_NE(printed->find(*fingerprint + " "), std::string::npos) << *printed << *fingerprint;
}

TEST(SshIdentity, NoKeyStaysBehind) {
  SystemClock clock;
  auto keys = [] {
    auto names = list_dir("/dev/shm");
    return names  ? std::erase_if(*names, [](const auto& n) { return n.rfind("bc-key-", 0) != 0; }),
           *names : std::vector<std::string>{};
  };
  const auto before = keys();
  ASSERT_TRUE(make_ssh_identity("benchctl", clock).ok());
  auto fresh = [&] {
    auto names = keys();
    std::erase_if(names, [&](const auto& n) { return std::find(before.begin(), before.end(), n) != before.end(); });
    return names;
  };
  // Other tests make keys beside this one: theirs go, too.
  Deadline deadline = Deadline::in(clock, std::chrono::seconds(20));
  while (!fresh().empty() && !deadline.passed(clock)) clock.sleep(std::chrono::milliseconds(20));
  EXPECT_EQ(fresh(), std::vector<std::string>{});
}

TEST(SshIdentity, WhatIsNoKeyIsRefused) {
  for (const char* text : {"", "ssh-ed25519", "ssh-ed25519 ???", "ssh-ed25519 AAAA"})
    EXPECT_FALSE(ssh_fingerprint(text).ok()) << text;
}

}  // namespace
}  // namespace benchctl
