#include "controller/workloads/target.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

TEST(Target, LevelsHoldTheOnesBelowThem) {
  EXPECT_TRUE(flags_of_isa("x86-64").empty());
  EXPECT_TRUE(flags_of_isa("armv8-a").empty());
  EXPECT_EQ(flags_of_isa("x86-64-v2").size(), 6u);
  EXPECT_EQ(missing_flags(flags_of_isa("x86-64-v3"), flags_of_isa("x86-64-v2")),
            (std::vector<std::string>{"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}));
  EXPECT_TRUE(missing_flags(flags_of_isa("x86-64-v3"), flags_of_isa("x86-64-v4")).empty());
}

TEST(Target, AnIsaKnowsItsArchitecture) {
  EXPECT_EQ(arch_of_isa("x86-64-v2"), "x86_64");
  EXPECT_EQ(arch_of_isa("armv8.2-a+crypto"), "aarch64");
  EXPECT_EQ(arch_of_isa("neoverse-n1"), "");
}

TEST(Target, AnOlderGlibcIsNotEnough) {
  EXPECT_FALSE(glibc_suffices("2.36", "glibc 2.31"));
  EXPECT_FALSE(glibc_suffices("2.36", "glibc 2.9")) << "numbers, not texts";
  EXPECT_TRUE(glibc_suffices("2.36", "glibc 2.36"));
  EXPECT_TRUE(glibc_suffices("2.36", "glibc 2.41"));
  EXPECT_TRUE(glibc_suffices("none", "glibc 2.17"));
  EXPECT_TRUE(glibc_suffices("2.36", "")) << "not known";
}

}  // namespace
}  // namespace benchctl
