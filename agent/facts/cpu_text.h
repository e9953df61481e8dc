// Pure parsers of what the kernel and lscpu say about CPUs. Unknown, translated or odd lines are skipped.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace benchctl {

struct CpuInfo {
  int processors = 0;
  // Of the first processor; absent where the architecture does not say it.
  std::optional<std::string> vendor;
  std::optional<int64_t> family, model, stepping;
  std::optional<std::string> model_name;
  std::optional<std::string> microcode;
  std::vector<std::string> flags;  // "flags" of x86, "Features" of arm64, in the kernel's order
  // arm64: MIDR_EL1 as 0x%08x, of each core type once, sorted and joined by "+" ("0x410fd034+0x410fd092").
  std::optional<std::string> midr;
};
CpuInfo parse_cpuinfo(std::string_view text);

// Field name without colon → value, of `lscpu -J` (flat or with "children"). Translated names are kept as they are and
// simply not found. An error when it is not lscpu's JSON.
using LscpuFields = std::map<std::string, std::string>;
Result<LscpuFields> parse_lscpu_json(std::string_view text);
std::optional<std::string> lscpu_text(const LscpuFields& fields, const std::string& name);  // "-" and "" are nothing
std::optional<int64_t> lscpu_int(const LscpuFields& fields, const std::string& name);

struct Topology {
  std::optional<int64_t> sockets, cores, threads;  // totals of the machine
};
// Sockets and cores by multiplication; "Core(s) per cluster" with "Cluster(s)" is understood.
Topology lscpu_topology(const LscpuFields& fields);

struct CacheSize {
  int64_t bytes = 0;      // of one instance
  int64_t instances = 0;  // 0: not said
  bool operator==(const CacheSize&) const = default;
};
// "96 KiB (2 instances)" is a sum; "32K" (older lscpu, sysfs) is one instance.
std::optional<CacheSize> parse_cache_size(std::string_view text);

// "0-3,8,10-11"; nothing when malformed or with a CPU above 8191.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);
std::string format_cpu_list(const std::vector<int>& cpus);  // sorted input

// "always [madvise] never" → "madvise".
std::optional<std::string> parse_bracketed(std::string_view text);

}  // namespace benchctl
