#include "lib/wire/facts.h"

#include <gtest/gtest.h>

#include <set>

namespace benchctl {
namespace {

Facts sample() {
  std::string text = R"({"version":1,"taken_unix_ms":1,
    "cpu":{"architecture":"x86_64","vendor":"GenuineIntel","family":6,"model":85,"stepping":"7","model_name":"Xeon",
           "microcode":"0x1","midr":null,"flags":["fpu","avx2"],"threads":4,"cores":2,"sockets":1,"numa_nodes":1,
           "cpus_usable":4,"caches":{"L1d":{"bytes":32768,"instances":2},"L2":{"bytes":1048576,"instances":2}},
           "mhz":2400.1,"bogomips":4800.2,"vulnerabilities":{"meltdown":"Mitigation: PTI","l1tf":"Not affected"},
           "why":{"midr":"not an arm64"}},
    "virt":{"kind":"kvm","hypervisor":"kvm","clocksource":"kvm-clock","why":{}},
    "memory":{"total_bytes":8232632320,"limit_bytes":null,"available_bytes":7000000000,"thp":"madvise","why":{}},
    "kernel":{"release":"6.1.0-40","version":"#1 SMP","cmdline":"quiet","boot_id":"b1",
              "sysctls":{"vm.swappiness":"60","kernel.perf_event_max_sample_rate":"100000"},"why":{}},
    "disk":{"filesystem":"ext4","free_bytes":1000,"fsync_p50_us":400.5,"why":{}},
    "time":{"ntp_synchronized":true,"max_error_us":500,"why":{}},
    "os":{"id":"debian","hostname":"h1","packages":{"libc6":"2.36"},"why":{}},
    "state":{"uptime_s":10.5,"load":[0.1,0.2,0.3],"why":{}},
    "agent":{"version":"0.1.0","why":{}}})";
  auto facts = parse_facts(text);
  EXPECT_TRUE(facts.ok()) << facts.error().message;
  return *facts;
}

Facts with(Facts facts, const std::string& group, const std::string& key, Json value) {
  Json changed = facts.document[group];
  changed.set(key, std::move(value));
  facts.document.set(group, std::move(changed));
  return facts;
}

struct Change {
  const char* group;
  const char* key;
  Json value;
};

const std::vector<Change> kVolatileChanges = {
    {"cpu", "mhz", 3000.5},           {"cpu", "bogomips", 1.0},  {"memory", "available_bytes", 5},
    {"kernel", "boot_id", "b2"},      {"disk", "free_bytes", 7}, {"disk", "fsync_p50_us", 1.5},
    {"time", "max_error_us", 999},    {"os", "hostname", "h2"},  {"state", "uptime_s", 99.5},
    {"state", "load", Json::array()},
};
const std::vector<Change> kHardwareChanges = {
    {"cpu", "architecture", "aarch64"},
    {"cpu", "vendor", "AuthenticAMD"},
    {"cpu", "family", 25},
    {"cpu", "model", 86},
    {"cpu", "stepping", "8"},
    {"cpu", "model_name", "Xeon 2"},
    {"cpu", "threads", 8},
    {"cpu", "cores", 4},
    {"cpu", "sockets", 2},
    {"cpu", "numa_nodes", 2},
    {"cpu", "cpus_usable", 2},
    {"cpu", "caches", Json()},
    {"virt", "kind", "systemd-nspawn"},
    {"virt", "hypervisor", "qemu"},
};
const std::vector<Change> kFingerprintChanges = {
    {"cpu", "microcode", "0x2"},     {"memory", "total_bytes", int64_t{4} << 30}, {"kernel", "release", "6.1.0-41"},
    {"kernel", "version", "#2 SMP"}, {"cpu", "vulnerabilities", Json()},          {"virt", "clocksource", "tsc"},
    {"memory", "thp", "always"},     {"memory", "limit_bytes", 512 << 20},
};

TEST(Facts, VolatileFactsAreInNoKeyAndInNoDifference) {
  Facts facts = sample();
  for (const Change& change : kVolatileChanges) {
    Facts other = with(facts, change.group, change.key, change.value);
    ASSERT_NE(other.document.dump(), facts.document.dump()) << change.key;
    EXPECT_EQ(fingerprint(other), fingerprint(facts)) << change.key;
    EXPECT_EQ(hardware_key(other), hardware_key(facts)) << change.key;
    EXPECT_EQ(diff_facts(facts, other).dump(), "[]") << change.key;
  }
}

TEST(Facts, EachNamedFactAltersItsKeys) {
  Facts facts = sample();
  std::set<std::string> seen = {fingerprint(facts)};
  for (const Change& change : kHardwareChanges) {
    Facts other = with(facts, change.group, change.key, change.value);
    EXPECT_TRUE(seen.insert(fingerprint(other)).second) << change.key;
    EXPECT_NE(hardware_key(other), hardware_key(facts)) << change.key;
    EXPECT_NE(diff_facts(facts, other).dump(), "[]") << change.key;
  }
  for (const Change& change : kFingerprintChanges) {
    Facts other = with(facts, change.group, change.key, change.value);
    EXPECT_TRUE(seen.insert(fingerprint(other)).second) << change.key;
    EXPECT_EQ(hardware_key(other), hardware_key(facts)) << change.key;
  }
  EXPECT_NE(fingerprint(facts), hardware_key(facts));
}

TEST(Facts, KeysAreStableFromVersionToVersion) {
  // A change here breaks every history: only with a new title line, on purpose.
  EXPECT_EQ(hardware_key(sample()), "5529638e985cb56967ea040cf5f5d2b04831bb396279d6c3053eae2a112f6380");
}

TEST(Facts, OnArm64TheRegisterCountsAndNotLscpusNames) {
  Facts arm = with(with(sample(), "cpu", "midr", "0x413fd0c1"), "cpu", "architecture", "aarch64");
  EXPECT_EQ(hardware_key(with(arm, "cpu", "model_name", "Neoverse-N1")), hardware_key(arm));
  EXPECT_EQ(hardware_key(with(arm, "cpu", "vendor", "ARM")), hardware_key(arm));
  EXPECT_NE(hardware_key(with(arm, "cpu", "midr", "0x413fd0c2")), hardware_key(arm));
}

TEST(Facts, MemoryIsRounded) {
  Facts facts = sample();
  auto memory = [&](int64_t bytes) { return fingerprint(with(facts, "memory", "total_bytes", bytes)); };
  EXPECT_EQ(memory(8232632320), memory(8232632320 - (50 << 20)));
  EXPECT_EQ(memory(int64_t{8} << 30), memory((int64_t{8} << 30) - (300 << 20)));
  EXPECT_NE(memory(int64_t{8} << 30), memory(int64_t{7} << 30));
  EXPECT_NE(memory(512 << 20), memory(1 << 30));
  EXPECT_EQ(memory(480 << 20), memory(512 << 20));
  EXPECT_EQ(memory(INT64_MAX), memory(INT64_MAX));
}

TEST(Facts, KeysDoNotDependOnTheOrderOfMembers) {
  Facts facts = sample();
  Json caches = *Json::parse(R"({"L2":{"instances":2,"bytes":1048576},"L1d":{"instances":2,"bytes":32768}})");
  EXPECT_EQ(hardware_key(with(facts, "cpu", "caches", caches)), hardware_key(facts));
  EXPECT_EQ(diff_facts(facts, with(facts, "cpu", "caches", caches)).dump(), "[]");
}

TEST(Facts, ATextCannotPretendToBeAnotherLine) {
  Facts one = with(with(sample(), "cpu", "vendor", "a\ncpu.family=6"), "cpu", "family", Json());
  Facts other = with(with(sample(), "cpu", "vendor", "a"), "cpu", "family", 6);
  EXPECT_NE(hardware_key(one), hardware_key(other));
}

TEST(Facts, DifferencesNameTheFactAndBothValues) {
  Facts before = sample();
  Facts after = with(before, "cpu", "microcode", "0x2");
  after = with(after, "cpu", "vulnerabilities", *Json::parse(R"({"meltdown":"Vulnerable","new":"x"})"));
  after = with(after, "kernel", "sysctls",
               *Json::parse(R"({"vm.swappiness":"1","kernel.perf_event_max_sample_rate":"5"})"));
  EXPECT_EQ(diff_facts(before, after).dump(),
            R"([{"fact":"cpu.microcode","before":"0x1","after":"0x2"},)"
            R"({"fact":"cpu.vulnerabilities.meltdown","before":"Mitigation: PTI","after":"Vulnerable"},)"
            R"({"fact":"cpu.vulnerabilities.l1tf","before":"Not affected","after":null},)"
            R"({"fact":"cpu.vulnerabilities.new","before":null,"after":"x"},)"
            R"({"fact":"kernel.sysctls.vm.swappiness","before":"60","after":"1"}])");
}

TEST(Facts, AnotherVersionOrAMissingGroupIsRefused) {
  std::string good = sample().document.dump();
  Json json = sample().document;
  json.set("version", 2);
  EXPECT_NE(parse_facts(json.dump()).error().message.find("version 2"), std::string::npos);
  json.set("version", 1);
  json.set("memory", "none");
  EXPECT_EQ(parse_facts(json.dump()).error().message, "facts: no group \"memory\"");
  EXPECT_FALSE(parse_facts("").ok());
  EXPECT_FALSE(parse_facts("[]").ok());
  EXPECT_FALSE(parse_facts(good.substr(0, good.size() - 1)).ok());
}

TEST(Facts, CapsHold) {
  auto with_text = [](const std::string& value) { return with(sample(), "os", "id", value).document.dump(); };
  EXPECT_TRUE(parse_facts(with_text(std::string(1 << 20, 'x'))).ok());
  EXPECT_FALSE(parse_facts(with_text(std::string(2 << 20, 'x'))).ok());
  Json deep;
  for (int i = 0; i < 20; ++i) deep = Json(Json::Array{deep});
  EXPECT_FALSE(parse_facts(with(sample(), "os", "id", deep).document.dump()).ok());
  Json wide = Json::array();
  for (int i = 0; i < 50'000; ++i) wide.push(0);
  EXPECT_FALSE(parse_facts(with(sample(), "os", "id", wide).document.dump()).ok());
}

}  // namespace
}  // namespace benchctl
