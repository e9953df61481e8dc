#include "controller/workloads/build.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "controller/workloads/bundle_parts.h"
#include "controller/workloads/elf_needs.h"
#include "controller/workloads/recipe.h"
#include "controller/workloads/sources.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kNeededKib = 2 << 20;

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

Json manifest_of(const Workload& workload, const BuildDecl& build, const BuildTarget& target, const Inputs& inputs,
                 const BuildContext& context) {
  Json json = describe_bundle(workload, build, context);
  json.set("arch", target.arch);
  json.set("isa", target.isa);
  json.set("min_glibc", build.min_glibc);
  json.set("sources", inputs.sources);
  json.set("key", inputs.key);
  json.set("toolchains", versions_of(inputs.toolchains));
  return json;
}

// Where the recipe's result lies: a folder for each state of all that decides it.
std::string tree_of(const Workload& workload, const BuildDecl& build, const Inputs& inputs,
                    const BuildContext& context) {
  return context.cache_dir + "/builds/" + workload.name + "-" + build.name + "-" + inputs.key.substr(0, 16);
}

bool any_pending(const std::vector<Toolchain>& toolchains) {
  return std::any_of(toolchains.begin(), toolchains.end(), [](const Toolchain& one) { return one.pending; });
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
  BENCHCTL_TRY(FileLock turn, take_cache(context));
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
