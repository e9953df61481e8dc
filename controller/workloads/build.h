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
  Json manifest;       // bundle.json: bundle, workload, version, build, arch, isa, min_glibc, sources, toolchains, git
  bool built = false;  // now, not found in the cache
};

// The bundle of one recipe; commands run only when sources, steps, toolchains or ISA have changed since. kUsage: a
// toolchain is missing, this computer is of another architecture. kWorkload: a command failed; its log is named.
// Callers in several processes wait for each other.
Result<Bundle> build_bundle(const Workload& workload, const BuildDecl& build, Toolchains& toolchains,
                            BuildContext& context);

// Of every recipe that the named arms need (all arms when empty), each once. An unknown arm is kUsage.
Result<std::vector<Bundle>> build_bundles(const Workload& workload, const std::vector<std::string>& arms,
                                          BuildContext& context);

// Jobs that compilers may run at once so that linking does not exhaust the memory: 0 for "as many as they like".
// `meminfo` is the text of /proc/meminfo.
int job_limit(std::string_view meminfo);

}  // namespace benchctl
