#include "controller/workloads/build.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

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

Result<Inputs> inputs_of(const Workload& workload, const BuildDecl& build, Toolchains& toolchains) {
  Inputs inputs;
  BENCHCTL_TRY(auto paths, find_sources(workload.folder, build.sources));
  BENCHCTL_TRY(inputs.sources, hash_files(workload.folder, paths));
  BENCHCTL_TRY(inputs.toolchains, toolchains.resolve(build.needs, build.isa));
  std::string identity =
      "build 1\n" + workload.name + "/" + build.name + "\n" + build.isa + "\n" + inputs.sources + "\n";
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

Json manifest_of(const Workload& workload, const BuildDecl& build, const Inputs& inputs, const BuildContext& context) {
  GitFacts git = git_facts(workload.folder, {workload.folder, context.root + "/toolchains"}, context.clock);
  Json json = Json::object();
  json.set("bundle", 1);
  json.set("workload", workload.name);
  json.set("version", workload.version);
  json.set("build", build.name);
  json.set("arch", build.arch);
  json.set("isa", build.isa);
  json.set("min_glibc", build.min_glibc);
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
    if (!said) context.say("waiting for the build cache: " + lock.error().message);
    context.clock.sleep(kLockPoll);
  }
}

Status check_architecture(const Workload& workload, const BuildDecl& build) {
  utsname here{};
  uname(&here);
  if (build.arch == here.machine) return {};
  return Error{ErrorKind::kUsage, workload.name + "/" + build.name + " is built for " + build.arch +
                                      "; this computer is " + here.machine + ": build on one of that architecture"};
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

Result<Bundle> build_bundle(const Workload& workload, const BuildDecl& build, Toolchains& toolchains,
                            BuildContext& context) {
  const std::string name = workload.name + "/" + build.name;
  BENCHCTL_CHECK(check_architecture(workload, build));
  BENCHCTL_CHECK(make_dirs(context.cache_dir + "/builds", 0755));
  BENCHCTL_TRY(FileLock turn, take_turn(context));
  BENCHCTL_TRY(Inputs inputs, inputs_of(workload, build, toolchains));
  const std::string tree =
      context.cache_dir + "/builds/" + workload.name + "-" + build.name + "-" + inputs.key.substr(0, 16);
  Bundle bundle{workload.name, build.name, "", "", Json(), !exists(tree)};
  if (bundle.built) {
    context.say(name + ": building");
    Nanos start = context.clock.now();
    std::vector<std::string> env = environment_of(context, inputs.toolchains, build.isa);
    auto meminfo = read_pseudo_file("/proc/meminfo");
    if (int jobs = meminfo ? job_limit(*meminfo) : 0) {
      context.say(
          name +
          ": less than 2 GiB of memory is free, so one compiler at a time; if it is ended for lack of memory, add "
          "swap: fallocate -l 2G /swap && chmod 600 /swap && mkswap /swap && swapon /swap");
      env.push_back("CARGO_BUILD_JOBS=" + std::to_string(jobs));
    }
    BENCHCTL_CHECK(run_recipe({name, workload.folder, build.steps, env}, tree, context));
    context.say(name + ": built in " + seconds_since(start, context.clock));
  }
  bundle.manifest = manifest_of(workload, build, inputs, context);
  BENCHCTL_TRY(bundle.sha256, place_bundle(tree, bundle.manifest, context));
  bundle.folder = context.cache_dir + "/bundles/" + bundle.sha256;
  return bundle;
}

Result<std::vector<Bundle>> build_bundles(const Workload& workload, const std::vector<std::string>& arms,
                                          BuildContext& context) {
  std::vector<std::string> names;
  for (const ArmDecl& arm : workload.arms)
    if (arms.empty() || std::find(arms.begin(), arms.end(), arm.name) != arms.end())
      if (std::find(names.begin(), names.end(), arm.build) == names.end()) names.push_back(arm.build);
  for (const std::string& wanted : arms) {
    if (workload.arm(wanted) != nullptr) continue;
    std::vector<std::string> known;
    for (const ArmDecl& arm : workload.arms) known.push_back(arm.name);
    auto near = did_you_mean(wanted, known);
    return Error{ErrorKind::kUsage, "workload " + workload.name + " has no arm \"" + sanitize(wanted, 80) + "\"" +
                                        (near ? "; did you mean \"" + *near + "\"?" : "; it has " + join(known, ", "))};
  }
  Toolchains toolchains(context);
  std::vector<Bundle> bundles;
  for (const std::string& name : names) {
    BENCHCTL_TRY(Bundle bundle, build_bundle(workload, *workload.build(name), toolchains, context));
    bundles.push_back(std::move(bundle));
  }
  return bundles;
}

}  // namespace benchctl
