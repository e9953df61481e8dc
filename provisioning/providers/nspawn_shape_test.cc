#include "provisioning/providers/nspawn_shape.h"

#include <gtest/gtest.h>

#include "provisioning/providers/nspawn_image.h"

namespace benchctl {
namespace {

TEST(NspawnShape, SizesAreParsed) {
  MachineSpec spec;
  spec.options = {{"cpus", "0"}, {"memory", "1GiB"}, {"disk", "512MiB"}};
  auto shape = NspawnShape::parse(spec);
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  EXPECT_EQ(shape->limits.cpus, "0");
  EXPECT_EQ(shape->limits.memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(shape->disk_bytes, int64_t{512} << 20);
}

TEST(NspawnShape, NonsenseIsNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"cpus", "0-"},       {"cpus", "3-1"}, {"cpus", "60000"},  {"cpus", "0;reboot"}, {"memory", "1"},
      {"memory", "plenty"}, {"disk", "-1"},  {"memroy", "1GiB"}, {"cpus", ""}};
  for (const auto& [name, value] : wrong) {
    MachineSpec spec;
    spec.options = {{name, value}};
    auto shape = NspawnShape::parse(spec);
    ASSERT_FALSE(shape.ok()) << name << "=" << value;
    EXPECT_EQ(shape.error().kind, ErrorKind::kUsage);
    EXPECT_NE(shape.error().message.find(name), std::string::npos);
  }
}

TEST(NspawnShape, MemoryBeyondThisComputersIsRefusedWithWhatItHas) {
  MachineSpec spec;
  spec.options["memory"] = "60TiB";
  auto shape = NspawnShape::parse(spec);
  ASSERT_FALSE(shape.ok());
  EXPECT_EQ(shape.error().kind, ErrorKind::kUsage);
  EXPECT_NE(shape.error().message.find("more than this computer has"), std::string::npos) << shape.error().message;
}

TEST(NspawnShape, OtherArchitectureIsRefused) {
  MachineSpec spec;
  spec.arch = "sparc64";
  EXPECT_FALSE(NspawnShape::parse(spec).ok());
}

TEST(NspawnImage, HashFollowsTheRecipe) {
  auto trixie = nspawn_recipe("");
  ASSERT_TRUE(trixie.ok());
  EXPECT_EQ(trixie->hash(), nspawn_recipe("debian-13")->hash());
  EXPECT_NE(trixie->hash(), nspawn_recipe("bookworm")->hash());
  auto changed = *trixie;
  changed.packages.push_back("more");
  EXPECT_NE(changed.hash(), trixie->hash());
  EXPECT_FALSE(nspawn_recipe("trixy").ok());
  auto more = nspawn_recipe("", {"gcc", "python3", "g++-12"});
  ASSERT_TRUE(more.ok());
  EXPECT_NE(more->hash(), trixie->hash());
  EXPECT_EQ(more->packages.size(), trixie->packages.size() + 2) << "python3 is there already";
  for (const char* bad : {"gcc=12", "--simulate", "a", "Gcc", "gcc libc", "../x", "gcc/sid"})
    EXPECT_FALSE(nspawn_recipe("", {bad}).ok()) << bad;
}

}  // namespace
}  // namespace benchctl
