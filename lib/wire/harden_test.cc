#include "lib/wire/harden.h"

#include <gtest/gtest.h>

#include <functional>

namespace benchctl {
namespace {

HardenProfile sample_profile() {
  HardenProfile profile;
  profile.name = "quiet";
  profile.knobs = {{"service", "cron.service", "masked"},
                   {"timer", "apt-daily.timer", "masked"},
                   {"sysctl", "vm.swappiness", "1"},
                   {"swap", "all", "off"},
                   {"file", "/sys/kernel/mm/transparent_hugepage/enabled", "madvise"},
                   {"governor", "all", "performance"}};
  profile.allow_timers = {"mine.timer"};
  profile.cloud_init_wait_ms = 1000;
  profile.cloud_init_marker = "/run/benchctl/ready";
  profile.dpkg_wait_ms = 2000;
  return profile;
}

HardenReport sample_report() {
  HardenReport report;
  report.verb = "apply";
  report.profile = "quiet";
  report.rows = {{"timer", "apt-daily.timer", "masked", "enabled, active", "masked, inactive", "applied", ""},
                 {"sysctl", "vm.swappiness", "1", "60", "", "not_exposed", "a container"}};
  report.proof = {false, {"x.timer has a next run"}};
  return report;
}

TEST(HardenWire, ProfileAndReportComeBackAsTheyWere) {
  Json profile = to_json(sample_profile());
  auto again = harden_profile_from_json(Json::parse(profile.dump()).value());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(to_json(*again).dump(), profile.dump());
  Json report = to_json(sample_report());
  auto read = parse_harden_report(report.dump());
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(to_json(*read).dump(), report.dump());
  EXPECT_EQ(read->rows[1].status, "not_exposed");
  EXPECT_EQ(read->proof.problems, std::vector<std::string>{"x.timer has a next run"});
}

TEST(HardenWire, RefusesKnobsThatCouldReachElsewhere) {
  const HardenKnob bad[] = {{"service", "../x.service", "masked"},
                            {"service", "--now.service", "masked"},
                            {"service", "foo@.service", "masked"},
                            {"service", "apt-daily.timer", "masked"},
                            {"service", "cron.service", "removed"},
                            {"service", "a b.service", "masked"},
                            {"timer", "cron.service", "masked"},
                            {"timer", ".timer", "masked"},
                            {"sysctl", "vm..swappiness", "1"},
                            {"sysctl", "vm/../../x", "1"},
                            {"sysctl", "swappiness", "1"},
                            {"sysctl", "vm.swappiness", "1\n2"},
                            {"sysctl", "vm.swappiness", ""},
                            {"file", "/sys/../etc/passwd", "x"},
                            {"file", "/etc/passwd", "x"},
                            {"file", "/sys//x", "x"},
                            {"governor", "all", "a b"},
                            {"governor", "cpu0", "performance"},
                            {"turbo", "all", "on"},
                            {"shell", "all", "off"}};
  for (const HardenKnob& knob : bad)
    EXPECT_FALSE(check_knob(knob).ok()) << knob.knob << " " << knob.target << " " << knob.requested;
  for (const HardenKnob& knob : sample_profile().knobs) EXPECT_TRUE(check_knob(knob).ok()) << knob.target;
  EXPECT_TRUE(check_knob({"service", "systemd-fsck@dev-disk-by\\x2duuid.service", "stopped"}).ok());
}

TEST(HardenWire, RefusesHostileDocuments) {
  using Change = std::function<void(Json&)>;
  const std::pair<const char*, Change> cases[] = {
      {"version", [](Json& json) { json.set("version", 99); }},
      {"verb", [](Json& json) { json.set("verb", "erase"); }},
      {"rows of another type", [](Json& json) { json.set("rows", "x"); }},
      {"a row that is a number", [](Json& json) { json.set("rows", Json(Json::Array{Json(1)})); }},
      {"unknown status",
       [](Json& json) {
         Json row = json["rows"].as_array()[0];
         row.set("status", "fine");
         json.set("rows", Json(Json::Array{row}));
       }},
      {"too many rows",
       [](Json& json) { json.set("rows", Json(Json::Array(10'001, Json(json["rows"].as_array()[0])))); }},
      {"a long text",
       [](Json& json) {
         Json row = json["rows"].as_array()[0];
         row.set("found", std::string(5000, 'x'));
         json.set("rows", Json(Json::Array{row}));
       }},
      {"no proof", [](Json& json) { json.set("proof", Json()); }},
      {"a good proof with problems",
       [](Json& json) {
         json.set("proof", to_json(QuietProof{true, {"x"}}));
       }},
      {"a bad proof without problems",
       [](Json& json) {
         json.set("proof", to_json(QuietProof{false, {}}));
       }},
      {"problems that are no texts", [](Json& json) {
         Json proof = json["proof"];
         proof.set("problems", Json(Json::Array{Json(1)}));
         json.set("proof", proof);
       }}};
  for (const auto& [name, change] : cases) {
    Json json = to_json(sample_report());
    change(json);
    EXPECT_FALSE(harden_report_from_json(json).ok()) << name;
  }
  Json profile = to_json(sample_profile());
  profile.set("name", "../etc");
  EXPECT_FALSE(harden_profile_from_json(profile).ok());
  profile = to_json(sample_profile());
  profile.set("dpkg_wait_ms", int64_t{1} << 60);
  EXPECT_FALSE(harden_profile_from_json(profile).ok());
  EXPECT_FALSE(parse_harden_report("").ok());
  EXPECT_FALSE(parse_harden_report("[]").ok());
}

}  // namespace
}  // namespace benchctl
