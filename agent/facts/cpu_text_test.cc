#include "agent/facts/cpu_text.h"

#include <gtest/gtest.h>

#include "agent/facts/test_tree.h"

namespace benchctl {
namespace {

LscpuFields lscpu(const std::string& name) {
  auto fields = parse_lscpu_json(testdata(name));
  EXPECT_TRUE(fields.ok()) << name;
  return fields ? *fields : LscpuFields{};
}

TEST(CpuText, CpuinfoOfX86) {
  CpuInfo info = parse_cpuinfo(testdata("cpuinfo_x86.txt"));
  EXPECT_EQ(info.processors, 4);
  EXPECT_EQ(info.vendor, "GenuineIntel");
  EXPECT_EQ(info.family, 6);
  EXPECT_EQ(info.model, 85);
  EXPECT_EQ(info.stepping, 7);
  EXPECT_EQ(info.model_name, "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz");
  EXPECT_EQ(info.microcode, "0x5003605");
  EXPECT_EQ(info.flags, (std::vector<std::string>{"fpu", "vme", "sse", "sse2", "avx2", "sha_ni", "hypervisor"}));
  EXPECT_EQ(info.midr, std::nullopt);
}

TEST(CpuText, CpuinfoOfArm64HasNoModelNameButItsMidr) {
  CpuInfo info = parse_cpuinfo(testdata("cpuinfo_arm64.txt"));
  EXPECT_EQ(info.processors, 4);
  EXPECT_EQ(info.model_name, std::nullopt);
  EXPECT_EQ(info.vendor, std::nullopt);
  EXPECT_EQ(info.midr, "0x413fd0c1");  // Neoverse N1 r3p1
  EXPECT_EQ(info.flags.front(), "fp");
  EXPECT_EQ(parse_cpuinfo(testdata("cpuinfo_arm64_big_little.txt")).midr, "0x410fd034+0x410fd092");
}

TEST(CpuText, OddCpuinfoGivesNothingInsteadOfNonsense) {
  for (const char* odd :
       {"", "\n\n", "no colon", ":", "model : x\nstepping: 1e9\ncpu family : \n", "CPU part : 0xzz"}) {
    CpuInfo info = parse_cpuinfo(odd);
    EXPECT_EQ(info.processors, 0) << odd;
    EXPECT_EQ(info.model, std::nullopt) << odd;
    EXPECT_EQ(info.family, std::nullopt) << odd;
    EXPECT_EQ(info.midr, std::nullopt) << odd;
  }
}

TEST(CpuText, LscpuFlatAndNested) {
  LscpuFields flat = lscpu("lscpu_x86.json");
  EXPECT_EQ(lscpu_text(flat, "Model name"), "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz");
  EXPECT_EQ(lscpu_int(flat, "NUMA node(s)"), 1);
  Topology topology = lscpu_topology(flat);
  EXPECT_EQ(topology.sockets, 1);
  EXPECT_EQ(topology.cores, 2);
  EXPECT_EQ(topology.threads, 4);
  LscpuFields nested = lscpu("lscpu_nested.json");
  EXPECT_EQ(lscpu_text(nested, "Model name"), "DO-Premium-AMD");
  EXPECT_EQ(lscpu_int(nested, "CPU family"), 25);
  EXPECT_EQ(lscpu_topology(nested).cores, 2);
  EXPECT_EQ(lscpu_text(nested, "L1d"), "64 KiB (2 instances)");
}

TEST(CpuText, TranslatedLscpuIsSimplyNotFound) {
  for (const char* name : {"lscpu_german.json", "lscpu_chinese.json"}) {
    LscpuFields fields = lscpu(name);
    for (const char* field : {"Architecture", "Vendor ID", "Model name", "CPU family", "Model", "Socket(s)",
                              "Core(s) per socket", "Flags", "Hypervisor vendor", "NUMA node(s)"})
      EXPECT_EQ(lscpu_text(fields, field), std::nullopt) << name << " " << field;
    EXPECT_EQ(lscpu_topology(fields).cores, std::nullopt) << name;
  }
}

TEST(CpuText, ADashIsNoNumberOfSocketsAndClustersCountCores) {
  Topology topology = lscpu_topology(lscpu("lscpu_socket_dash.json"));
  EXPECT_EQ(topology.sockets, std::nullopt);
  EXPECT_EQ(topology.cores, 4);
  EXPECT_EQ(topology.threads, 4);
  EXPECT_EQ(lscpu_topology(lscpu("lscpu_per_cluster.json")).cores, 6);
  EXPECT_EQ(lscpu_int(lscpu("lscpu_no_numa.json"), "NUMA node(s)"), std::nullopt);
}

TEST(CpuText, WhatIsNoLscpuJsonIsAnError) {
  for (const char* bad : {"", "Architecture: x86_64", "{}", "[]", "{\"lscpu\":3}", "{\"lscpu\":[{\"field\":1}]}"})
    EXPECT_FALSE(parse_lscpu_json(bad).ok()) << bad;
}

TEST(CpuText, CacheSizesAreOfOneInstance) {
  EXPECT_EQ(parse_cache_size("96 KiB (2 instances)"), (CacheSize{48 * 1024, 2}));
  EXPECT_EQ(parse_cache_size("1 MiB (1 instance)"), (CacheSize{1 << 20, 1}));
  EXPECT_EQ(parse_cache_size("32K"), (CacheSize{32 * 1024, 0}));
  EXPECT_EQ(parse_cache_size("1.5 MiB"), (CacheSize{1536 * 1024, 0}));
  EXPECT_EQ(parse_cache_size("512"), (CacheSize{512, 0}));
  for (const char* bad : {"", "-", "KiB", "64 KiB (0 instances)", "1,5 MiB", "64 Q", "-1 K"})
    EXPECT_EQ(parse_cache_size(bad), std::nullopt) << bad;
}

TEST(CpuText, CpuListsRoundTrip) {
  EXPECT_EQ(parse_cpu_list("0-2,5,7-8\n"), (std::vector<int>{0, 1, 2, 5, 7, 8}));
  EXPECT_EQ(parse_cpu_list(""), std::vector<int>{});
  for (const char* text : {"0", "0-127", "0,2,4", "0-2,5,7-8", "3-4"})
    EXPECT_EQ(format_cpu_list(*parse_cpu_list(text)), text);
  EXPECT_EQ(format_cpu_list(*parse_cpu_list("5,0,1")), "0-1,5");
  for (const char* bad : {"a", "1-", "-1", "3-2", "0-8192", "0,,1", "0-99999999999", "0-1-2"})
    EXPECT_EQ(parse_cpu_list(bad), std::nullopt) << bad;
}

TEST(CpuText, TheChoiceInBrackets) {
  EXPECT_EQ(parse_bracketed("always [madvise] never"), "madvise");
  EXPECT_EQ(parse_bracketed("[none]"), "none");
  for (const char* bad : {"", "always", "[", "]", "] ["}) EXPECT_EQ(parse_bracketed(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace benchctl
