#include "controller/cli/ship.h"

#include <sys/stat.h>

#include "controller/cli/arm_needs.h"
#include "controller/plan/expand.h"
#include "controller/plan/plan_source.h"
#include "controller/workloads/build.h"
#include "controller/workloads/source_bundle.h"
#include "lib/files.h"
#include "lib/pack.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

constexpr int64_t kProgramBytes = 512 << 20;

// The user's own program as a bundle of one file.
Result<BuiltBundle> ship_program(const std::string& cache, const std::string& root, const BundleNeed& need) {
  BENCHCTL_TRY(UniqueFd dir, open_dir(root));
  BENCHCTL_TRY(UniqueFd program, open_beneath(dir.get(), need.program, 0));
  BENCHCTL_TRY(std::string bytes, read_file("/proc/self/fd/" + std::to_string(program.get()), kProgramBytes));
  std::string name = need.program.substr(need.program.rfind('/') + 1);
  PackEntry entry{name, sha256_hex(bytes), static_cast<int64_t>(bytes.size()), true};
  BuiltBundle bundle;
  bundle.key = need.key;
  bundle.row.sha256 = sha256_hex(format_manifest({entry}));
  bundle.row.workload = "";
  bundle.row.build = need.program;
  bundle.row.manifest.set("program", need.program);
  bundle.folder = cache + "/programs/" + bundle.row.sha256;
  if (!exists(bundle.folder + "/" + name)) {
    BENCHCTL_CHECK(make_dirs(bundle.folder, 0755));
    BENCHCTL_CHECK(write_atomic(bundle.folder + "/" + name, bytes, 0755));
  }
  return bundle;
}

}  // namespace

BuildContext build_context(Context& context, std::function<void(const std::string&)> say) {
  return {.root = context.source_root + "/workloads",
          .cache_dir = context.cache + "/workloads",
          .clock = *context.clock,
          .say = std::move(say)};
}

Result<Shipment> make_bundles(Context& context, const Plan& plan, const std::vector<Workload>& workloads,
                              Progress& progress, const std::function<bool()>& stop) {
  BENCHCTL_CHECK(check_cache(context));
  // What is missing is found out before minutes go into building the rest.
  BENCHCTL_CHECK(foresee_bundles(context, plan, workloads).verdict);
  BuildContext build = build_context(context, [&](const std::string& line) { progress.say("", line); });
  build.now = [&](const std::string& text) { progress.now("building", text); };
  build.stop = stop;
  Toolchains toolchains(build);
  Shipment shipment;
  for (const Suite& suite : plan.suites) {
    if (suite.command.empty()) continue;
    BENCHCTL_TRY(BuiltBundle program, ship_program(context.cache, plan.root,
                                                   {"command/" + suite.name, "", "", without_dot(suite.command[0])}));
    shipment.bundles.push_back(std::move(program));
  }
  std::map<std::string, Error> unbuilt;
  const std::vector<ArmNeed> needs = arm_needs(plan, workloads);
  for (const auto& [workload, one] : recipes_of(needs)) {
    auto bundle = one.on_machine ? bundle_sources(workload, *one.build, one.target.arch, toolchains, build)
                                 : build_bundle(workload, *one.build, one.target, toolchains, build);
    if (bundle) {
      shipment.bundles.push_back(
          {one.key, bundle->folder, {bundle->sha256, bundle->workload, bundle->build, bundle->manifest}});
    } else if (spares_the_others(bundle.error())) {
      unbuilt.emplace(one.key, bundle.error());
    } else {
      return bundle.error();
    }
  }
  ArmVerdict verdict = judge_arms(needs, unbuilt);
  BENCHCTL_CHECK(verdict.status);
  for (const std::string& note : verdict.notes) progress.say("", note);
  for (const auto& [key, why] : unbuilt) shipment.unbuilt[key] = why.message;
  return shipment;
}

void skip_unbuilt(Plan& plan) {
  for (Suite& suite : plan.suites) suite.skip_unbuilt = true;
}

Foresight foresee_bundles(Context& context, const Plan& plan, const std::vector<Workload>& workloads) {
  BuildContext build = build_context(context, [](const std::string&) {});
  Toolchains toolchains(build, true);
  std::map<std::string, Error> unbuilt;
  Foresight seen;
  const std::vector<ArmNeed> needs = arm_needs(plan, workloads);
  for (const auto& [workload, one] : recipes_of(needs)) {
    Outlook outlook = one.on_machine ? look_at_sources(workload, *one.build, one.target.arch, toolchains)
                                     : look_at(workload, *one.build, one.target, toolchains, build);
    if (outlook.state != Readiness::kCannot) continue;
    if (outlook.kind == ErrorKind::kUsage)
      unbuilt.emplace(one.key, Error{outlook.kind, outlook.why});
    else  // another try may go well
      seen.notes.push_back("the last time, " + outlook.why);
  }
  ArmVerdict verdict = judge_arms(needs, unbuilt);
  seen.notes.insert(seen.notes.end(), verdict.notes.begin(), verdict.notes.end());
  seen.verdict = verdict.status;
  return seen;
}

}  // namespace benchctl
