#include "controller/workloads/fit.h"

#include <gtest/gtest.h>

#include "controller/workloads/build.h"
#include "controller/workloads/target.h"

namespace benchctl {
namespace {

Json manifest(const std::string& isa, const std::string& glibc, const std::vector<std::string>& flags = {}) {
  return Json::object({{"arch", "x86_64"}, {"isa", isa}, {"min_glibc", glibc}, {"cpu_flags", flags}});
}

TEST(Fit, SaysWhatTheMachineLacks) {
  MachineTraits old{"x86_64", flags_of_isa("x86-64-v2"), "glibc 2.31"};
  EXPECT_EQ(unfit(manifest("x86-64-v2", "none"), old), "");
  EXPECT_EQ(unfit(manifest("x86-64-v2", "2.36"), old), "it needs glibc 2.36 or newer, and the machine has glibc 2.31");
  EXPECT_EQ(unfit(manifest("x86-64-v2", "2.17", {"avx2"}), old), "it needs avx2, which the CPU lacks");
  EXPECT_TRUE(unfit(manifest("x86-64-v3", "none"), old)
                  .starts_with("it is built for x86-64-v3, and the CPU lacks abm, avx, avx2"));
  EXPECT_EQ(unfit(manifest("x86-64-v2", "none"), {"aarch64", {"asimd"}, "glibc 2.41"}),
            "it is built for x86_64, and the machine is aarch64");
}

TEST(Fit, WhatIsNotKnownIsBelieved) {
  EXPECT_EQ(unfit(manifest("x86-64-v4", "2.36", {"avx2"}), {"x86_64", {}, ""}), "");
  EXPECT_EQ(unfit(Json::object({{"program", "mine"}}), {"aarch64", {}, ""}), "");
}

TEST(Fit, ThisComputerKnowsItself) {
  MachineTraits here = these_traits();
  EXPECT_EQ(here.arch, this_architecture());
  EXPECT_FALSE(here.cpu_flags.empty());
  EXPECT_EQ(unfit(Json::object({{"arch", here.arch}, {"isa", ""}, {"min_glibc", "2.17"}}), here), "");
}

}  // namespace
}  // namespace benchctl
