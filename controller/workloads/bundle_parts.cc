#include "controller/workloads/bundle_parts.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "controller/workloads/git_facts.h"
#include "lib/lock_wait.h"
#include "lib/pack.h"
#include "lib/sha256.h"

namespace benchctl {
namespace {

// The arms that may run from the recipe's bundle, and the modes, with what a reader of their results must know: reports
// are written from the store, which holds this manifest.
void describe_use(const Workload& workload, const BuildDecl& build, Json& manifest) {
  Json arms = Json::object(), modes = Json::object();
  for (const ArmDecl& arm : workload.arms) {
    auto builds = arm.all_builds();
    if (std::find(builds.begin(), builds.end(), build.name) == builds.end()) continue;
    arms.set(arm.name, Json::object({{"help", arm.help}, {"limits", arm.limits}, {"first", build.name == arm.build}}));
  }
  for (const ModeDecl& mode : workload.modes)
    modes.set(mode.name, Json::object({{"limits", mode.limits}, {"side_by_side", mode.side_by_side}}));
  manifest.set("arms", std::move(arms));
  manifest.set("modes", std::move(modes));
}

}  // namespace

Json describe_bundle(const Workload& workload, const BuildDecl& build, const BuildContext& context) {
  GitFacts git = git_facts(workload.folder, {workload.folder, context.root + "/toolchains"}, context.clock);
  Json json = Json::object();
  json.set("bundle", 1);
  json.set("workload", workload.name);
  json.set("version", workload.version);
  json.set("build", build.name);
  json.set("cpu_flags", build.cpu_flags);
  describe_use(workload, build, json);
  Json history = Json::object();
  history.set("commit", git.commit.empty() ? Json() : Json(git.commit));
  history.set("dirty", git.dirty);
  history.set("diff", git.diff_sha256.empty() ? Json() : Json(git.diff_sha256));
  json.set("git", history);
  return json;
}

Result<FileLock> take_cache(const BuildContext& context) {
  bool said = false;
  return wait_for_lock(context.cache_dir + "/build.lock", "a build, process " + std::to_string(getpid()), context.clock,
                       Deadline::in(context.clock, context.timeout), [&](const Error& held) -> Status {
                         if (context.stopped())
                           return Error{ErrorKind::kInterrupted, "stopped while another build had the cache"};
                         if (!said) context.say("waiting for the build cache: " + held.message);
                         said = true;
                         return {};
                       });
}

Result<std::string> place_bundle(const std::string& tree, const Json& manifest, BuildContext& context) {
  const std::string bundles = context.cache_dir + "/bundles", fresh = bundles + "/new";
  BENCHCTL_CHECK(make_dirs(bundles, 0755));
  BENCHCTL_CHECK(remove_tree(fresh));
  std::error_code ec;
  std::filesystem::copy(tree, fresh, std::filesystem::copy_options::recursive, ec);
  if (ec) return Error{ErrorKind::kInternal, "copy " + tree + " to " + fresh + ": " + ec.message()};
  BENCHCTL_CHECK(write_atomic(fresh + "/bundle.json", manifest.dump_pretty() + "\n", 0644));
  BENCHCTL_TRY(auto entries, scan_tree(fresh, {}));
  std::string sha256 = sha256_hex(format_manifest(entries));
  if (exists(bundles + "/" + sha256)) {
    BENCHCTL_CHECK(remove_tree(fresh));
  } else if (rename(fresh.c_str(), (bundles + "/" + sha256).c_str()) != 0) {
    return errno_error("rename " + fresh);
  }
  return sha256;
}

}  // namespace benchctl
