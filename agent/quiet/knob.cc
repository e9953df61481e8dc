#include "agent/quiet/knob.h"

#include <algorithm>

#include "lib/files.h"

namespace benchctl {
namespace {

constexpr const char* kCpus = "/sys/devices/system/cpu";

// Says that there is nothing to turn.
class MissingKnob final : public Knob {
 public:
  MissingKnob(HardenKnob asked, std::string reason) : Knob(std::move(asked)), reason_(std::move(reason)) {}
  Seen look() override { return {Seen::State::kNotExposed, "", reason_, {}}; }
  bool satisfied(const Seen&) const override { return false; }
  Status change(const Seen&, Pass) override { return {}; }
  Status put_back(const Json&, Pass) override { return {}; }

 private:
  std::string reason_;
};

std::string sysctl_path(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return "/proc/sys/" + name;
}

// A value knob for each file that is there, or the reason why there is none.
void add_files(Knobs& knobs, const HardenKnob& asked, const std::vector<std::pair<std::string, std::string>>& files,
               QuietWorld& world, const std::string& otherwise) {
  std::string obstacle = host_knobs_obstacle(world);
  bool any = false;
  for (const auto& [path, value] : files) {
    if (!obstacle.empty() || !exists(world.path(path))) continue;
    any = true;
    knobs.push_back(make_value_knob({asked.knob, path, value}, path, world));
  }
  if (!any) knobs.push_back(std::make_unique<MissingKnob>(asked, obstacle.empty() ? otherwise : obstacle));
}

void add_knob(Knobs& knobs, const HardenKnob& asked, QuietWorld& world, Units& units) {
  const std::string cpus = kCpus;
  if (asked.knob == "service" || asked.knob == "timer") {
    knobs.push_back(make_unit_knob(asked, world, units));
  } else if (asked.knob == "sysctl") {
    knobs.push_back(make_value_knob(asked, sysctl_path(asked.target), world));
  } else if (asked.knob == "swap") {
    knobs.push_back(make_swap_knob(asked, world));
  } else if (asked.knob == "governor") {
    std::vector<std::pair<std::string, std::string>> files;
    for (const std::string& policy : world.list(cpus + "/cpufreq"))
      if (policy.starts_with("policy"))
        files.emplace_back(cpus + "/cpufreq/" + policy + "/scaling_governor", asked.requested);
    add_files(knobs, asked, files, world, "no CPU lets its frequency be governed here");
  } else if (asked.knob == "turbo") {
    add_files(knobs, asked, {{cpus + "/intel_pstate/no_turbo", "1"}, {cpus + "/cpufreq/boost", "0"}}, world,
              "no switch for turbo or boost here");
  } else if (asked.knob == "smt") {
    add_files(knobs, asked, {{cpus + "/smt/control", "off"}}, world, "no switch for SMT here");
  } else {
    knobs.push_back(make_value_knob(asked, asked.target, world));
  }
}

}  // namespace

Knobs make_knobs(const HardenProfile& profile, QuietWorld& world, Units& units) {
  Knobs knobs;
  for (const HardenKnob& asked : profile.knobs) add_knob(knobs, asked, world, units);
  return knobs;
}

Result<std::unique_ptr<Knob>> make_knob(const JournalEntry& entry, QuietWorld& world, Units& units) {
  HardenKnob asked{entry.knob, entry.target, entry.requested};
  bool file_of_all = asked.knob == "governor" || asked.knob == "turbo" || asked.knob == "smt";
  if (file_of_all) {
    BENCHCTL_CHECK(check_knob({"file", asked.target, asked.requested}));
    return make_value_knob(asked, asked.target, world);
  }
  BENCHCTL_CHECK(check_knob(asked));
  Knobs knobs;
  add_knob(knobs, asked, world, units);
  return std::move(knobs.front());
}

}  // namespace benchctl
