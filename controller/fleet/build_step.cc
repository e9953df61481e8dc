#include "controller/fleet/build_step.h"

#include <algorithm>
#include <set>

#include "controller/fleet/machine_builds.h"
#include "controller/fleet/times.h"
#include "controller/plan/declarations.h"
#include "controller/plan/expand.h"
#include "controller/workloads/fit.h"
#include "controller/workloads/source_bundle.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr size_t kLineBytes = 500;
constexpr size_t kWhyBytes = 1000;
constexpr size_t kShownLines = 8;  // of the log, in the reason
constexpr size_t kTools = 64;

// The machine's own lines, safe to keep and to show.
std::vector<std::string> clean_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::string_view line : split(text, '\n'))
    if (!trim(line).empty()) lines.push_back(sanitize(line, kLineBytes));
  return lines;
}

// NAME KEY=VALUE lines, as bundle.json has them of tools of this computer.
Json toolchains_of(const std::string& text) {
  std::map<std::string, Json> tools;
  for (const std::string& line : clean_lines(text)) {
    size_t space = line.find(' '), equals = line.find('=');
    if (space == std::string::npos || equals == std::string::npos || equals < space) continue;
    if (tools.size() >= kTools && tools.count(line.substr(0, space)) == 0) continue;
    Json& tool = tools.try_emplace(line.substr(0, space), Json::object()).first->second;
    tool.set(line.substr(space + 1, equals - space - 1), line.substr(equals + 1));
  }
  Json all = Json::object();
  for (auto& [name, tool] : tools) all.set(name, std::move(tool));
  return all;
}

// Of what was made there: that of the sources, with what only the machine knew.
Json built_manifest(const LocalBundle& sources, const std::string& isa, const MachineBuild& made) {
  Json manifest = Json::object();
  for (const auto& [key, value] : sources.manifest.as_object())
    if (key != "on_machine") manifest.set(key, value);
  manifest.set("isa", isa);
  manifest.set("toolchains", toolchains_of(made.toolchains));
  manifest.set("built_from", sources.sha256);
  return manifest;
}

std::string how_to_get(const std::string& provider) {
  if (provider == "nspawn") return "; put the packages into packages = [...] of its [fleet]";
  return provider == "local" ? "; install it on this computer" : "; install it on the machine";
}

class MachineBuilder {
 public:
  explicit MachineBuilder(const BuildStep& step)
      : step_(step),
        traits_{step.facts.text("cpu", "architecture"), step.facts.get("cpu", "flags").as_strings(),
                step.facts.text("os", "libc")} {}

  Status run() {
    for (const Suite& suite : step_.input.plan.suites) {
      const Workload* workload = find_named(step_.input.workloads, suite.workload);
      if (!suite.on_machine || workload == nullptr) continue;
      for (const std::string& name : suite.arms)
        if (const ArmDecl* arm = workload->arm(name)) BENCHCTL_CHECK(build_arm(suite, *workload, *arm));
    }
    step_.now("");
    BENCHCTL_CHECK(save_builds(step_.input.folder, step_.machine, builds_));
    if (fatal_.empty()) return {};
    return Error{broken_ ? ErrorKind::kWorkload : ErrorKind::kRejected, join(fatal_, "; ")};
  }

 private:
  // The first of its recipes that suits.
  Status build_arm(const Suite& suite, const Workload& workload, const ArmDecl& arm) {
    std::vector<std::string> reasons;
    bool unfit_only = true, broken = false;
    for (const std::string& build : arm.all_builds()) {
      auto key = bundle_key(workload, build, suite, traits_.arch);
      if (!key) continue;
      if (tried_.insert(*key).second) BENCHCTL_CHECK(build_recipe(*key, workload.name + "/" + build, suite.isa));
      if (builds_.bundles.count(*key) != 0) return {};
      auto unbuilt = builds_.unbuilt.find(*key);
      if (unbuilt == builds_.unbuilt.end()) continue;
      unfit_only = false;
      broken = broken || broken_keys_.count(*key) != 0;
      reasons.push_back(unbuilt->second);
    }
    // What is not for this machine is left out, or rejects it, as with programs that were built before.
    const bool baseline = arm.name == suite.baseline;
    if (unfit_only || (suite.skip_unbuilt && !baseline)) return {};
    broken_ = broken_ || broken;
    fatal_.push_back("arm " + arm.name + " (" + suite.name + ") is not built: " + join(reasons, "; ") +
                     (baseline ? "; it is the baseline, without which nothing is compared"
                               : "; to go on without it: --skip-unbuilt, or skip_unbuilt = true in its [[suite]]"));
    return {};
  }

  Status build_recipe(const std::string& key, const std::string& name, const std::string& wanted_isa) {
    auto sources = step_.input.bundles.find(key);
    if (sources == step_.input.bundles.end()) return {};  // not even those could be had: input.unbuilt says why
    const Json& manifest = sources->second.manifest;
    IsaChoice choice = choose_isa(manifest, wanted_isa, traits_.cpu_flags);
    if (choice.why.empty()) choice.why = unfit(manifest, traits_);
    if (!choice.why.empty()) {
      builds_.unfit[key] = "not built for this CPU: " + choice.why;
      return {};
    }
    const Nanos time = step_.time();
    if (time <= Nanos::zero())
      return Error{ErrorKind::kProvisioning,
                   "no time is left on the machine to build " + name + ": raise ttl in [limits]"};
    step_.now("building " + name + " there, for " + choice.isa);
    BENCHCTL_TRY(Installed sent,
                 step_.agent.install_bundle(sources->second.folder,
                                            Deadline::in(step_.clock, std::chrono::milliseconds(kTransferMs))));
    if (sent.sha256 != sources->second.sha256)
      return Error{ErrorKind::kInternal, sources->second.folder + " changed after it was made: run again"};
    BENCHCTL_TRY(MachineBuild made, step_.agent.build(sent.sha256, traits_.arch, choice.isa, time));
    const std::vector<std::string> log = clean_lines(made.log);
    BENCHCTL_TRY(std::string kept, keep_log(name + "-" + choice.isa, log));
    if (!made.ok) {
      fail(key, name, made, log, kept);
      return {};
    }
    Json described = built_manifest(sources->second, choice.isa, made);
    BENCHCTL_CHECK(step_.store.save_bundle(
        {made.sha256, described["workload"].as_string(), described["build"].as_string(), described}));
    builds_.bundles[key] = {made.sha256, "", described};
    step_.say(name + ": built on the machine for " + choice.isa + (made.again ? ", before" : ""));
    return {};
  }

  void fail(const std::string& key, const std::string& name, const MachineBuild& made,
            const std::vector<std::string>& log, const std::string& kept) {
    std::string& why = builds_.unbuilt[key];
    if (made.tools_missing) {
      why = "the machine cannot build it: " + sanitize(made.why, kWhyBytes) + how_to_get(step_.provider);
    } else {
      broken_keys_.insert(key);
      why = "building it on the machine failed: " + sanitize(made.why, kWhyBytes) + "; its log is " + kept;
      const size_t first = log.size() > kShownLines ? log.size() - kShownLines : 0;
      for (size_t i = first; i < log.size(); ++i) step_.say("  " + log[i]);
    }
    step_.say(name + ": not built: " + why);
  }

  Result<std::string> keep_log(const std::string& name, const std::vector<std::string>& lines) {
    std::string flat = name;
    std::replace(flat.begin(), flat.end(), '/', '-');
    const std::string folder = step_.input.folder + "/builds/" + step_.machine;
    BENCHCTL_CHECK(make_dirs(folder));
    const std::string path = folder + "/" + flat + ".log";
    BENCHCTL_CHECK(write_atomic(path, join(lines, "\n") + "\n", 0644));
    return path;
  }

  const BuildStep& step_;
  const MachineTraits traits_;
  MachineBuilds builds_;
  std::set<std::string> tried_, broken_keys_;
  std::vector<std::string> fatal_;
  bool broken_ = false;
};

}  // namespace

Status build_on_machine(const BuildStep& step) {
  return MachineBuilder(step).run();
}

}  // namespace benchctl
