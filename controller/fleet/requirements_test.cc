#include "controller/fleet/requirements.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

Facts machine() {
  auto facts = parse_facts(R"({"version":1,"taken_unix_ms":1,
    "cpu":{"architecture":"x86_64","model_name":"AMD EPYC 7B13","flags":["fma","avx2"],"cpus_usable":2},
    "virt":{"kind":"kvm"},"memory":{"total_bytes":8589934592,"limit_bytes":2147483648},"kernel":{"release":"6.12.0"},
    "disk":{},"time":{},"os":{"pretty_name":"Debian GNU/Linux 13"},"state":{},"agent":{}})");
  return facts.value();
}

std::string unmet(const Require& require, bool isolated = true) {
  auto met = meets(require, machine(), isolated);
  if (met) return "";
  EXPECT_EQ(met.error().kind, ErrorKind::kRejected);
  return met.error().message;
}

TEST(Requirements, NothingAskedIsAlwaysMet) {
  EXPECT_EQ(unmet({}), "");
  EXPECT_EQ(unmet({}, false), "");
}

TEST(Requirements, EachIsProvedOnTheFacts) {
  Require require;
  require.cpu_flags = {"avx2"};
  require.cpu_model = "EPYC|Platinum 8[13]68";
  require.memory_bytes = int64_t{2} << 30;
  require.cpu_class = "dedicated";
  EXPECT_EQ(unmet(require), "");
}

TEST(Requirements, AllThatIsMissingIsToldAtOnce) {
  Require require;
  require.cpu_flags = {"avx2", "avx512f"};
  require.cpu_model = "Xeon";
  require.memory_bytes = int64_t{4} << 30;  // what a trial can have is the limit, not the host's memory
  require.cpu_class = "dedicated";
  EXPECT_EQ(
      unmet(require, false),
      "the machine is not what [require] asks for: CPU flag avx512f is missing; cpu_model asks for /Xeon/, this is "
      "\"AMD EPYC 7B13\"; memory 2.0 GiB is below 4.0 GiB; cpu_class asks for dedicated cores, this machine "
      "shares them with this computer");
}

TEST(Requirements, AFactThatIsAbsentMeetsNothing) {
  Require require;
  require.cpu_flags = {"avx2"};
  require.memory_bytes = 1;
  auto met = meets(require, Facts{}, true);
  ASSERT_FALSE(met.ok());
  EXPECT_NE(met.error().message.find("CPU flag avx2 is missing; memory 0 B is below 1 B"), std::string::npos)
      << met.error().message;
}

}  // namespace
}  // namespace benchctl
