// What an agent says of a build is believed only in its shape.
#include "lib/wire/machine_build.h"

#include <gtest/gtest.h>

#include <functional>

namespace benchctl {
namespace {

MachineBuild good() {
  MachineBuild build;
  build.ok = true;
  build.sha256 = std::string(64, 'a');
  build.toolchains = "cc CC_VERSION=gcc 12\n";
  build.log = "$ sh build.sh\n";
  return build;
}

TEST(MachineBuild, SurvivesTheWire) {
  const std::string text = to_json(good()).dump();
  auto build = parse_machine_build(text);
  ASSERT_TRUE(build.ok()) << build.error().message;
  EXPECT_EQ(to_json(*build).dump(), text);
}

TEST(MachineBuild, ContradictionsAndExcessAreRefused) {
  auto refused = [](const std::function<void(MachineBuild&)>& change) {
    MachineBuild build = good();
    change(build);
    return !parse_machine_build(to_json(build).dump()).ok();
  };
  EXPECT_TRUE(refused([](MachineBuild& build) { build.sha256 = "../../etc"; }));
  EXPECT_TRUE(refused([](MachineBuild& build) { build.sha256.clear(); }));
  EXPECT_TRUE(refused([](MachineBuild& build) { build.why = "exit code 1"; }));
  EXPECT_TRUE(refused([](MachineBuild& build) { build.tools_missing = true; }));
  EXPECT_TRUE(refused([](MachineBuild& build) { build.ok = false; })) << "a failure says why";
  EXPECT_TRUE(refused([](MachineBuild& build) { build.log = std::string(kBuildLogBytes + 1, 'x'); }));
  EXPECT_TRUE(refused([](MachineBuild& build) { build.toolchains = std::string(kBuildToolsBytes + 1, 'x'); }));
  EXPECT_FALSE(refused([](MachineBuild& build) {
    build.ok = false;
    build.why = "exit code 1";
  }));
  for (const char* text : {"", "{}", "[]", "{\"ok\":1}", "{\"ok\":true}"})
    EXPECT_FALSE(parse_machine_build(text).ok()) << text;
}

}  // namespace
}  // namespace benchctl
