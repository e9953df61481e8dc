#include "controller/workloads/build.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "controller/workloads/elf_needs.h"
#include "controller/workloads/git_facts.h"
#include "controller/workloads/recipe.h"
#include "controller/workloads/sources.h"
#include "lib/files.h"
#include "lib/pack.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kNeededKib = 2 << 20;
constexpr auto kLockPoll = std::chrono::milliseconds(200);

struct Inputs {
  std::string sources;  // sha256
  std::string key;      // of all that decides the result
  std::vector<Toolchain> toolchains;
};

Result<Inputs> inputs_of(const Workload& workload, const BuildDecl& build, const BuildTarget& target,
                         Toolchains& toolchains) {
  Inputs inputs;
  BENCHCTL_TRY(auto paths, find_sources(workload.folder, build.sources));
  BENCHCTL_TRY(inputs.sources, hash_files(workload.folder, paths));
  BENCHCTL_TRY(inputs.toolchains, toolchains.resolve(build.needs, target));
  std::string identity =
      "build 2\n" + workload.name + "/" + build.name + "\n" + target.text() + "\n" + inputs.sources + "\n";
  for (const auto& step : build.steps) identity += shell_quote(step) + "\n";
  for (const Toolchain& one : inputs.toolchains) identity += one.name + " " + one.key + "\n";
  inputs.key = sha256_hex(identity);
  return inputs;
}

// What the toolchains say of themselves: their lines but for the places of files on this computer.
Json versions_of(const std::vector<Toolchain>& toolchains) {
  Json all = Json::object();
  for (const Toolchain& toolchain : toolchains) {
    Json one = Json::object();
    for (const std::string& line : toolchain.env) {
      size_t equals = line.find('=');
      if (line.size() > equals + 1 && line[equals + 1] != '/') one.set(line.substr(0, equals), line.substr(equals + 1));
    }
    all.set(toolchain.name, one);
  }
  return all;
}

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

Json manifest_of(const Workload& workload, const BuildDecl& build, const BuildTarget& target, const Inputs& inputs,
                 const BuildContext& context) {
  GitFacts git = git_facts(workload.folder, {workload.folder, context.root + "/toolchains"}, context.clock);
  Json json = Json::object();
  json.set("bundle", 1);
  json.set("workload", workload.name);
  json.set("version", workload.version);
  json.set("build", build.name);
  json.set("arch", target.arch);
  json.set("isa", target.isa);
  json.set("cpu_flags", build.cpu_flags);
  json.set("min_glibc", build.min_glibc);
  describe_use(workload, build, json);
  json.set("sources", inputs.sources);
  json.set("key", inputs.key);
  json.set("toolchains", versions_of(inputs.toolchains));
  Json history = Json::object();
  history.set("commit", git.commit.empty() ? Json() : Json(git.commit));
  history.set("dirty", git.dirty);
  history.set("diff", git.diff_sha256.empty() ? Json() : Json(git.diff_sha256));
  json.set("git", history);
  return json;
}

// Two builds into one cache take turns.
Result<FileLock> take_turn(const BuildContext& context) {
  Deadline deadline = Deadline::in(context.clock, context.timeout);
  for (bool said = false;; said = true) {
    auto lock = FileLock::take(context.cache_dir + "/build.lock", "a build, process " + std::to_string(getpid()));
    if (lock || lock.error().kind != ErrorKind::kInterrupted || deadline.passed(context.clock)) return lock;
    if (context.stopped()) return Error{ErrorKind::kInterrupted, "stopped while another build had the cache"};
    if (!said) context.say("waiting for the build cache: " + lock.error().message);
    context.clock.sleep(kLockPoll);
  }
}

// Where the recipe's result lies: a folder for each state of all that decides it.
std::string tree_of(const Workload& workload, const BuildDecl& build, const Inputs& inputs,
                    const BuildContext& context) {
  return context.cache_dir + "/builds/" + workload.name + "-" + build.name + "-" + inputs.key.substr(0, 16);
}

bool any_pending(const std::vector<Toolchain>& toolchains) {
  return std::any_of(toolchains.begin(), toolchains.end(), [](const Toolchain& one) { return one.pending; });
}

// A copy of `tree` with bundle.json, under the name of its hash.
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

std::string seconds_since(Nanos start, Clock& clock) {
  return format_seconds(std::chrono::duration<double>(clock.now() - start).count());
}

}  // namespace

int job_limit(std::string_view meminfo) {
  for (std::string_view line : split(meminfo, '\n')) {
    if (!line.starts_with("MemAvailable:")) continue;
    std::string_view number = trim(line.substr(13));
    auto kib = parse_int(number.substr(0, number.find(' ')));
    return kib && *kib < kNeededKib ? 1 : 0;
  }
  return 0;
}

std::string this_architecture() {
  utsname here{};
  uname(&here);
  return here.machine;
}

Result<BuildTarget> target_for(const Workload& workload, const BuildDecl& build, const BuildWish& wish) {
  const std::string arch = wish.arch.empty() ? this_architecture() : wish.arch;
  if (auto target = build.target(arch, wish.isa)) return *target;
  std::vector<std::string> known;
  for (const BuildTarget& target : build.targets)
    if (std::find(known.begin(), known.end(), target.arch) == known.end()) known.push_back(target.arch);
  return Error{ErrorKind::kUsage, workload.name + "/" + build.name + " cannot be built for " + sanitize(arch, 40) +
                                      ", only for " + join(known, " and ")};
}

Result<Bundle> build_bundle(const Workload& workload, const BuildDecl& build, const BuildTarget& target,
                            Toolchains& toolchains, BuildContext& context) {
  std::string name = workload.name + "/" + build.name;
  // Other targets of the same recipe have work folders and logs of their own.
  if (build.targets.size() > 1 && !(target == build.targets.front())) name += "/" + target.isa;
  BENCHCTL_CHECK(make_dirs(context.cache_dir + "/builds", 0755));
  BENCHCTL_TRY(FileLock turn, take_turn(context));
  context.tell(name + ": looking for its toolchains");
  BENCHCTL_TRY(Inputs inputs, inputs_of(workload, build, target, toolchains));
  const std::string tree = tree_of(workload, build, inputs, context);
  Bundle bundle{workload.name, build.name, "", "", Json(), !exists(tree)};
  if (bundle.built) {
    context.say(name + ": building");
    Nanos start = context.clock.now();
    std::vector<std::string> env = environment_of(context, inputs.toolchains, target);
    auto meminfo = read_pseudo_file("/proc/meminfo");
    if (int jobs = meminfo ? job_limit(*meminfo) : 0) {
      context.say(
          name +
          ": less than 2 GiB of memory is free, so one compiler at a time; if it is ended for lack of memory, add "
          "swap: fallocate -l 2G /swap && chmod 600 /swap && mkswap /swap && swapon /swap");
      env.push_back("CARGO_BUILD_JOBS=" + std::to_string(jobs));
    }
    BENCHCTL_CHECK(run_recipe({name, workload.folder, build.steps, env}, tree, context));
    context.tell("");
    if (Status promised = check_glibc(tree, build.min_glibc); !promised) {
      BENCHCTL_CHECK(remove_tree(tree));
      return promised.error().in(name);
    }
    context.say(name + ": built in " + seconds_since(start, context.clock));
  }
  bundle.manifest = manifest_of(workload, build, target, inputs, context);
  BENCHCTL_TRY(bundle.sha256, place_bundle(tree, bundle.manifest, context));
  bundle.folder = context.cache_dir + "/bundles/" + bundle.sha256;
  return bundle;
}

bool spares_the_others(const Error& error) {
  return error.kind == ErrorKind::kUsage || error.kind == ErrorKind::kWorkload;
}

Result<Builds> build_each(const Workload& workload, const std::vector<std::string>& arms, const BuildWish& wish,
                          BuildContext& context) {
  for (const std::string& arm : arms) BENCHCTL_CHECK(find_arm(workload, arm));
  std::vector<std::string> names;
  for (const ArmDecl& arm : workload.arms)
    if (arms.empty() || std::find(arms.begin(), arms.end(), arm.name) != arms.end())
      for (const std::string& build : arm.all_builds())
        if (std::find(names.begin(), names.end(), build) == names.end()) names.push_back(build);
  Toolchains toolchains(context);
  Builds made;
  for (const std::string& name : names) {
    const BuildDecl& build = *workload.build(name);
    auto bundle = [&]() -> Result<Bundle> {
      BENCHCTL_TRY(BuildTarget target, target_for(workload, build, wish));
      return build_bundle(workload, build, target, toolchains, context);
    }();
    if (bundle) {
      made.bundles.push_back(*std::move(bundle));
    } else if (spares_the_others(bundle.error())) {
      made.missing.push_back({name, bundle.error()});
    } else {
      return bundle.error();
    }
  }
  return made;
}

Result<std::vector<Bundle>> build_bundles(const Workload& workload, const std::vector<std::string>& arms,
                                          BuildContext& context) {
  BENCHCTL_TRY(Builds made, build_each(workload, arms, {}, context));
  for (const NotBuilt& missing : made.missing) {
    if (!arms.empty()) return missing.why;
    context.say(workload.name + "/" + missing.build + " is not built: " + missing.why.message);
  }
  return std::move(made.bundles);
}

const Bundle* bundle_of(const std::vector<Bundle>& bundles, const ArmDecl& arm) {
  for (const std::string& build : arm.all_builds())
    for (const Bundle& bundle : bundles)
      if (bundle.build == build) return &bundle;
  return nullptr;
}

Outlook look_at(const Workload& workload, const BuildDecl& build, const BuildTarget& target, Toolchains& toolchains,
                BuildContext& context) {
  auto found = [&]() -> Result<Readiness> {
    BENCHCTL_TRY(Inputs inputs, inputs_of(workload, build, target, toolchains));
    if (any_pending(inputs.toolchains)) return Readiness::kNotBuiltYet;
    const std::string tree = tree_of(workload, build, inputs, context);
    if (exists(tree)) return Readiness::kBuilt;
    BENCHCTL_CHECK(last_failure(tree));
    return Readiness::kNotBuiltYet;
  }();
  if (found) return {*found, "", ErrorKind::kUsage};
  return {Readiness::kCannot, found.error().message, found.error().kind};
}

}  // namespace benchctl
