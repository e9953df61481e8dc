#include "controller/harden/profile.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lib/json.h"

namespace benchctl {
namespace {

bool asks(const HardenProfile& profile, const std::string& target, const std::string& requested) {
  return std::any_of(profile.knobs.begin(), profile.knobs.end(),
                     [&](const HardenKnob& knob) { return knob.target == target && knob.requested == requested; });
}

TEST(HardenProfile, TheShippedOneHoldsWhatItMustAndLeavesWhatItMust) {
  auto profile = load_harden_profile(BENCHCTL_SOURCE_DIR, "quiet");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  for (const char* unit : {"unattended-upgrades.service", "cron.service", "droplet-agent.service", "apt-daily.timer",
                           "apt-daily-upgrade.timer", "man-db.timer", "dpkg-db-backup.timer", "e2scrub_all.timer",
                           "fstrim.timer", "logrotate.timer", "systemd-tmpfiles-clean.timer"})
    EXPECT_TRUE(asks(*profile, unit, "masked")) << unit;
  EXPECT_TRUE(asks(*profile, "kernel.nmi_watchdog", "0"));
  EXPECT_TRUE(asks(*profile, "all", "off"));
  for (const HardenKnob& knob : profile->knobs) {
    for (const char* word : {"ssh", "network", "journald", "irqbalance", "walinuxagent", "qemu-guest", "resolved",
                             "google-guest", "randomize_va_space"})
      EXPECT_EQ(knob.target.find(word), std::string::npos) << knob.target;
    EXPECT_NE(knob.knob, "turbo");
    EXPECT_NE(knob.knob, "smt");
  }
  EXPECT_GT(profile->dpkg_wait_ms, 0);
  // And it is a document that an agent takes.
  EXPECT_TRUE(harden_profile_from_json(Json::parse(to_json(*profile).dump()).value()).ok());
}

TEST(HardenProfile, MistakesAreToldWithTheirPlaces) {
  const std::pair<const char*, const char*> cases[] = {
      {"schema = 1\nname = \"q\"\n[services]\nmasked = [\"cron.service\",\n \"../x\"]\n",
       "q.toml:5:2: hardening: service \"../x\": no name of a service, socket or path unit"},
      {"schema = 1\nname = \"q\"\n[timers]\nmaskd = []\n",
       "q.toml:4:1: unknown key \"maskd\" in [timers]; did you mean \"masked\"?"},
      {"schema = 1\nname = \"q\"\n[sysctl]\n\"vm.swappiness\" = 1\n",
       "q.toml:4:19: \"vm.swappiness\" in [sysctl] must be a text, such as \"0\""},
      {"schema = 1\nname = \"q\"\n[files]\n\"/etc/passwd\" = \"x\"\n",
       "q.toml:4:17: hardening: file \"/etc/passwd\": no path below /sys"},
      {"schema = 1\nname = \"q\"\n[cpu]\nsmt = \"on\"\n", "q.toml:4:7: hardening: smt \"all\": cannot be \"on\""},
      {"schema = 1\nname = \"other\"\n", "q.toml:2:8: name must be \"q\", the name of its file"},
      {"schema = 1\nname = \"q\"\nallow_timers = [\"a.timer\"]\n[timers]\nmasked = [\"a.timer\"]\n",
       "q.toml:3:16: allow_timers names \"a.timer\", which [timers] masks"}};
  for (const auto& [text, message] : cases) {
    auto profile = read_harden_profile(text, "q.toml", "q");
    ASSERT_FALSE(profile.ok()) << text;
    EXPECT_EQ(profile.error().message, message);
    EXPECT_EQ(profile.error().kind, ErrorKind::kUsage);
  }
}

TEST(HardenProfile, OnlyPlainNamesOfProfilesThatThereAre) {
  auto typo = load_harden_profile(BENCHCTL_SOURCE_DIR, "quite");
  ASSERT_FALSE(typo.ok());
  EXPECT_EQ(typo.error().message, "there is no hardening profile \"quite\"; did you mean \"quiet\"?; known: quiet");
  EXPECT_FALSE(load_harden_profile(BENCHCTL_SOURCE_DIR, "../harden/quiet").ok());
  EXPECT_FALSE(load_harden_profile(BENCHCTL_SOURCE_DIR, "").ok());
}

}  // namespace
}  // namespace benchctl
