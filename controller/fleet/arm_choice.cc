#include "controller/fleet/arm_choice.h"

#include <algorithm>

#include "controller/plan/expand.h"
#include "controller/workloads/fit.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct Pick {
  std::string build;   // empty: none
  std::string kind;    // why the first one was not taken
  std::string reason;  // empty: it was
};

// The first of the arm's recipes whose bundle is here and can run there.
Pick pick(const RunInput& input, const Workload& workload, const ArmDecl& arm, const Suite& suite,
          const MachineTraits& machine) {
  Pick found;
  auto note = [&](const char* kind, const std::string& build, const std::string& why) {
    if (!found.reason.empty()) found.reason += "; ";
    if (found.kind.empty()) found.kind = kind;
    found.reason += workload.name + "/" + build + ": " + why;
  };
  for (const std::string& build : arm.all_builds()) {
    auto key = bundle_key(workload, build, suite, machine.arch);
    if (!key) {
      note("not for this machine", build, "it cannot be built for " + sanitize(machine.arch, 40));
      continue;
    }
    if (auto why = input.unfit.find(*key); why != input.unfit.end()) {
      note("not for this machine", build, why->second);
      continue;
    }
    auto bundle = input.bundles.find(*key);
    if (bundle == input.bundles.end()) {
      auto why = input.unbuilt.find(*key);
      note("not built", build, why == input.unbuilt.end() ? "there is no bundle of it" : why->second);
      continue;
    }
    std::string why = unfit(bundle->second.manifest, machine);
    if (why.empty()) {
      found.build = build;
      return found;
    }
    note("not for this machine", build, why);
  }
  return found;
}

}  // namespace

Result<ArmChoice> choose_arms(const RunInput& input, const Facts& facts) {
  const MachineTraits machine{facts.text("cpu", "architecture"), facts.get("cpu", "flags").as_strings(),
                              facts.text("os", "libc")};
  ArmChoice choice{input.plan, input.workloads, {}};
  for (Suite& suite : choice.plan.suites) {
    auto workload = std::find_if(choice.workloads.begin(), choice.workloads.end(),
                                 [&](const Workload& one) { return one.name == suite.workload; });
    if (workload == choice.workloads.end()) continue;  // a program of the user's own
    std::vector<std::string> kept;
    for (const std::string& name : suite.arms) {
      auto arm = std::find_if(workload->arms.begin(), workload->arms.end(),
                              [&](const ArmDecl& one) { return one.name == name; });
      if (arm == workload->arms.end()) {
        kept.push_back(name);  // expand() says that there is no such arm
        continue;
      }
      Pick picked = pick(input, *workload, *arm, suite, machine);
      if (picked.build.empty() && name == suite.baseline)
        return Error{ErrorKind::kRejected, "the baseline " + name + " of suite " + suite.name +
                                               " cannot run on this machine: " + picked.reason};
      if (picked.build.empty()) {
        choice.left_out.push_back({suite.name, name, picked.kind, picked.reason});
        continue;
      }
      if (!picked.reason.empty())
        choice.left_out.push_back(
            {suite.name, name, "another build", "runs from " + picked.build + ", since " + picked.reason});
      arm->build = picked.build;
      kept.push_back(name);
    }
    suite.arms = std::move(kept);
  }
  return choice;
}

}  // namespace benchctl
