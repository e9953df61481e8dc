// Build recipes to bundles: what is shipped to a machine. A bundle is a folder that holds the recipe's result and
// bundle.json, and is named by the sha256 of its manifest (lib/pack.h): the same content is the same bundle everywhere.
#pragma once

#include <string>
#include <vector>

#include "controller/workloads/build_context.h"
#include "controller/workloads/toolchain.h"
#include "controller/workloads/workload.h"
#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

struct Bundle {
  std::string workload;
  std::string build;
  std::string sha256;  // of format_manifest() of its files
  std::string folder;  // <cache_dir>/bundles/<sha256>
  // bundle.json: bundle, workload, version, build, arch, isa, cpu_flags, min_glibc, arms, modes, sources, key,
  // toolchains, git
  Json manifest;
  bool built = false;  // now, not found in the cache
};

// A recipe without a bundle here, and why; the message says how to get what is missing.
struct NotBuilt {
  std::string build;
  Error why;
};

struct Builds {
  std::vector<Bundle> bundles;
  std::vector<NotBuilt> missing;
};

// What to build for: of each recipe the architecture, and the ISA where the recipe knows it, else its default.
struct BuildWish {
  std::string arch;  // empty: this computer's
  std::string isa;
};

std::string this_architecture();

// kUsage, naming those that there are, when the recipe knows no such architecture.
Result<BuildTarget> target_for(const Workload& workload, const BuildDecl& build, const BuildWish& wish);

// The bundle of one recipe; commands run only when sources, steps, toolchains or target have changed since. kUsage: a
// toolchain is missing. kWorkload: a command failed; its log is named. Callers in several processes wait for each
// other.
Result<Bundle> build_bundle(const Workload& workload, const BuildDecl& build, const BuildTarget& target,
                            Toolchains& toolchains, BuildContext& context);

// Whether what build_bundle() says concerns that recipe alone: a toolchain is missing or its build failed. Anything
// else is the cache itself: a full disk, a build that another process does not end, a stop.
bool spares_the_others(const Error& error);

// Of every recipe that the named arms (all when empty) may run from, each once; one that cannot be built does not stop
// the others. An unknown arm is kUsage.
Result<Builds> build_each(const Workload& workload, const std::vector<std::string>& arms, const BuildWish& wish,
                          BuildContext& context);

// The same for this computer. All arms: those that can be built here, the others are said. Named arms: each must be
// built.
Result<std::vector<Bundle>> build_bundles(const Workload& workload, const std::vector<std::string>& arms,
                                          BuildContext& context);

// The first of the arm's recipes that has a bundle; nullptr when none has.
const Bundle* bundle_of(const std::vector<Bundle>& bundles, const ArmDecl& arm);

// Whether a recipe's bundle lies in the cache, can be built, or cannot; without building anything.
enum class Readiness { kBuilt, kNotBuiltYet, kCannot };
struct Outlook {
  Readiness state = Readiness::kNotBuiltYet;
  std::string why;  // it cannot be built, and how to get what is missing
  ErrorKind kind = ErrorKind::kUsage;
};
// `toolchains` only looks.
Outlook look_at(const Workload& workload, const BuildDecl& build, const BuildTarget& target, Toolchains& toolchains,
                BuildContext& context);

// Jobs that compilers may run at once so that linking does not exhaust the memory: 0 for "as many as they like".
// `meminfo` is the text of /proc/meminfo.
int job_limit(std::string_view meminfo);

}  // namespace benchctl
