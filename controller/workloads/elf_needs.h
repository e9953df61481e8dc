// What the programs of a bundle need of the C library of the machine that they run on: read from the files themselves,
// so that a recipe's min_glibc is not merely believed.
#pragma once

#include <string>
#include <string_view>

#include "lib/result.h"

namespace benchctl {

// The newest symbol version of glibc that the ELF program or library asks for: "2.34". Empty when it asks for none
// (linked statically, another libc) and when it is no 64-bit little-endian ELF file. From the version needs of its
// dynamic section (https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/symversion.html).
// A file that is cut short or lies about its tables gives what could be read.
std::string glibc_needed(std::string_view elf);

// kWorkload, naming the file, when one below `folder` needs a newer glibc than `declared` ("2.36", or "none").
Status check_glibc(const std::string& folder, const std::string& declared);

}  // namespace benchctl
