#include "controller/cli/ship.h"

#include <sys/stat.h>

#include <algorithm>

#include "controller/plan/expand.h"
#include "controller/plan/plan_source.h"
#include "controller/workloads/build.h"
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

Result<std::vector<BuiltBundle>> make_bundles(Context& context, const Plan& plan,
                                              const std::vector<Workload>& workloads, Progress& progress) {
  // Which bundles there are does not depend on the machine; the shape of this computer serves.
  BENCHCTL_TRY(Expansion expansion, expand(plan, workloads, host_shape()));
  BuildContext build = build_context(context, [&](const std::string& line) { progress.say("", line); });
  Toolchains toolchains(build);
  std::vector<BuiltBundle> bundles;
  for (const BundleNeed& need : expansion.bundles) {
    if (need.build.empty()) {
      BENCHCTL_TRY(BuiltBundle program, ship_program(context.cache, plan.root, need));
      bundles.push_back(std::move(program));
      continue;
    }
    const Workload& workload = *std::find_if(workloads.begin(), workloads.end(),
                                             [&](const Workload& one) { return one.name == need.workload; });
    const BuildDecl& recipe = *std::find_if(workload.builds.begin(), workload.builds.end(),
                                            [&](const BuildDecl& one) { return one.name == need.build; });
    BENCHCTL_TRY(Bundle bundle, build_bundle(workload, recipe, toolchains, build));
    bundles.push_back({need.key, bundle.folder, {bundle.sha256, bundle.workload, bundle.build, bundle.manifest}});
  }
  return bundles;
}

}  // namespace benchctl
