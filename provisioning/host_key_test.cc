#include "provisioning/host_key.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

// The pair is what `ssh-keygen -l` printed for a key made for this test.
TEST(HostKeyPin, IsWhatSshKeygenPrints) {
  auto pin =
      host_key_pin("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGtT3BRyjl+mMrqmNLubKLLo6cqWMMrP4/rPB0k4BnnI a comment\n");
  ASSERT_TRUE(pin.ok()) << pin.error().message;
  EXPECT_EQ("SHA256:AgKNm5j2ZTgUQ2jd8oKGXRaNd4DCAyHqbbfccYYO/Uk", *pin);
}

TEST(HostKeyPin, RefusesWhatIsNoEd25519Key) {
  for (const char* line : {"", "ssh-ed25519", "ssh-ed25519 AAAA", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAI",
                           "ssh-ed25519 !!!!", "\x1b[2J ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA"})
    EXPECT_FALSE(host_key_pin(line).ok()) << line;
}

}  // namespace
}  // namespace benchctl
