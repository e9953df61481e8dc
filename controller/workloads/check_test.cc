#include "controller/workloads/check.h"

#include <gtest/gtest.h>

namespace benchctl {
namespace {

using Checks = std::map<std::string, std::string>;

TEST(Check, TakesTheCheckColumnByCase) {
  auto checks =
      checks_of("case,items,micros,us_per_item,check\nc/app/edit,10,100,10.000,-7\nc/app/update,10,100,10.000,8\n",
                "sequential", "c");
  ASSERT_TRUE(checks.ok()) << checks.error().message;
  EXPECT_EQ(*checks, (Checks{{"app/edit", "-7"}, {"app/update", "8"}}));
  auto generic = checks_of("case,metric,unit,value,better,check\nd/run,time,ns,5,lower,ab\nd/run,time,ns,6,lower,cd\n",
                           "generic", "c");
  ASSERT_TRUE(generic.ok());
  EXPECT_EQ(*generic, (Checks{{"d/run", "ab cd"}}));
}

TEST(Check, RefusesOutputThatIsNotWhole) {
  const std::string header = "case,items,micros,us_per_item,check\n";
  for (const std::string& bad :
       {std::string(), std::string("case,items\n"), header, header + "c/a,1,2,3", header + "c/a,1,2,3\n",
        header + "c/a,1,2,3,4,5\n", header + "c/a,1,2,3,4\nc/a,1,2,3,4\n"}) {
    auto checks = checks_of(bad, "sequential", "c");
    ASSERT_FALSE(checks.ok()) << bad;
    EXPECT_EQ(checks.error().kind, ErrorKind::kWorkload);
  }
  EXPECT_FALSE(checks_of(header, "concurrent", "c").ok());
}

TEST(Check, NamesTheArmThatDiffersAndWhere) {
  ArmEvidence base{"c", "1\n2\n", {{"edit", "5"}}};
  EXPECT_TRUE(compare_evidence("c", {base, {"rust", "1\n2\n", {{"edit", "5"}}}}).ok());
  auto message = [&](ArmEvidence other) {
    Status status = compare_evidence("c", {base, std::move(other)});
    return status.ok() ? "" : status.error().message;
  };
  EXPECT_EQ(message({"rust", "1\n3\n", {{"edit", "5"}}}),
            "these arms do not do what c does: rust: its trace differs: line 2 is \"3\" where the baseline has \"2\"");
  EXPECT_EQ(message({"rust", "1\n2\n", {{"edit", "6"}}}),
            "these arms do not do what c does: rust: its check of edit is 6, not 5");
  EXPECT_EQ(message({"rust", "1\n2\n", {}}), "these arms do not do what c does: rust: it has no case edit");
  EXPECT_EQ(message({"rust", "1\n2\n", {{"edit", "5"}, {"edit (query_only)", "1"}}}), "");
  EXPECT_FALSE(compare_evidence("zig", {base}).ok());
}

}  // namespace
}  // namespace benchctl
