// What a recipe builds for: an architecture and, within it, an instruction set by the name that compilers know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace benchctl {

struct BuildTarget {
  std::string arch;  // x86_64 | aarch64
  std::string isa;   // the -march or target-cpu: x86-64-v2, armv8-a

  bool operator==(const BuildTarget&) const = default;
  std::string text() const { return arch + ", " + isa; }
};

// Of names that say it by themselves: x86-64-v3 is x86_64, armv8.2-a is aarch64. Empty for any other.
std::string arch_of_isa(std::string_view isa);

// What a program for that instruction set needs of a CPU beyond its architecture, as /proc/cpuinfo names it. From the
// levels of the x86-64 psABI (https://gitlab.com/x86-psABIs/x86-64-ABI, chapter 3.1.1); an unknown name needs nothing.
std::vector<std::string> flags_of_isa(std::string_view isa);

// Those of `wanted` that `present` lacks.
std::vector<std::string> missing_flags(const std::vector<std::string>& wanted, const std::vector<std::string>& present);

// "2.36" against "glibc 2.41" or "2.41": does a program that needs `wanted` start there? "none" or "" always does; a
// version that cannot be read is believed to be enough.
bool glibc_suffices(std::string_view wanted, std::string_view present);

}  // namespace benchctl
