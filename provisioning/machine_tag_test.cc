#include "provisioning/machine_tag.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TEST(MachineTag, ComesBackFromItsText) {
  Lease lease;
  lease.nonce = "abc123def456";
  lease.owner = "0f8fad5b-d9cb-469f-a165-70867728950e";
  lease.run = "20261130-ab12";
  lease.expires_unix = 1796068800;
  auto tag = MachineTag::of(lease);
  ASSERT_TRUE(tag.ok());
  EXPECT_EQ(tag->name(), "bc-abc123def456");
  auto back = MachineTag::parse(tag->text());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->nonce, lease.nonce);
  EXPECT_EQ(back->owner, lease.owner);
  EXPECT_EQ(back->run, lease.run);
  EXPECT_EQ(back->expires_unix, lease.expires_unix);
}

TEST(MachineTag, WhatIsNotOursIsNotTakenForOurs) {
  for (const char* text : {"", "bc-", "bc-x", "bc-x.o.1", "bc-x.o.1.r.z", "bc-x.o.-1.r", "bc-x.o.1x.r", "xx-x.o.1.r",
                           "bc-X.o.1.r", "bc-x..1.r", "bc-x.o.1./", "bc-x.o.1.r\n"})
    EXPECT_FALSE(MachineTag::parse(text).has_value()) << text;
}

TEST(MachineTag, FieldsThatCouldEscapeAreRefused) {
  Lease lease;
  lease.nonce = "abc";
  lease.owner = "o";
  lease.run = "../../etc";
  EXPECT_FALSE(MachineTag::of(lease).ok());
}

}  // namespace
}  // namespace benchctl
