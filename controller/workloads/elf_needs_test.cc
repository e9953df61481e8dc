#include "controller/workloads/elf_needs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "controller/workloads/target.h"
#include "lib/files.h"

namespace benchctl {
namespace {

std::string ourselves() {
  auto bytes = read_file("/proc/self/exe", 512 << 20);
  EXPECT_TRUE(bytes.ok());
  return bytes ? *bytes : "";
}

TEST(ElfNeeds, ThisTestNeedsTheGlibcOfThisComputerOrAnOlderOne) {
  std::string needed = glibc_needed(ourselves());
  ASSERT_FALSE(needed.empty());
  EXPECT_TRUE(glibc_suffices("2.14", needed)) << needed << " is no glibc that C++20 was built with";
}

TEST(ElfNeeds, WhatIsNoProgramNeedsNothing) {
  EXPECT_EQ(glibc_needed(""), "");
  EXPECT_EQ(glibc_needed("#!/bin/sh\necho GLIBC_2.36\n"), "");
}

TEST(ElfNeeds, AFileThatIsCutShortIsNoCrash) {
  std::string whole = ourselves();
  for (size_t size : {size_t{1}, size_t{63}, size_t{64}, size_t{500}, whole.size() / 2, whole.size() - 1})
    (void)glibc_needed(std::string_view(whole).substr(0, size));
  for (size_t i = 0; i < 4096 && i < whole.size(); ++i) {
    std::string bent = whole.substr(0, 65'536);
    bent[i] = static_cast<char>(bent[i] ^ 0xFF);
    (void)glibc_needed(bent);
  }
}

TEST(ElfNeeds, ARecipeThatPromisesTooMuchIsRefused) {
  char name[] = "/tmp/benchctl-elf-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  std::string folder = name;
  std::ofstream(folder + "/program") << ourselves();
  EXPECT_TRUE(check_glibc(folder, "2.99").ok());
  for (const char* declared : {"2.3", "none"}) {
    Status checked = check_glibc(folder, declared);
    ASSERT_FALSE(checked.ok()) << declared;
    EXPECT_EQ(checked.error().kind, ErrorKind::kWorkload);
    EXPECT_TRUE(checked.error().message.starts_with("program needs glibc 2.")) << checked.error().message;
  }
  ASSERT_TRUE(remove_tree(folder).ok());
}

}  // namespace
}  // namespace benchctl
