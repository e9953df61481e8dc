#include "agent/facts/cpu_text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

#include "lib/json.h"
#include "lib/text.h"

namespace benchctl {
namespace {

std::optional<uint32_t> parse_number(std::string_view text) {  // decimal or 0x…
  int base = 10;
  if (text.starts_with("0x")) text.remove_prefix(2), base = 16;
  uint32_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void words(std::string_view text, std::vector<std::string>& into) {
  for (std::string_view word : split(text, ' '))
    if (!word.empty() && word.size() <= 64 && into.size() < 1024) into.emplace_back(word);
}

// The four numbers of an arm64 processor block, put together as the architecture's MIDR_EL1 has them.
struct Identification {
  std::optional<uint32_t> implementer, variant, part, revision;
  std::optional<std::string> midr() const {
    if (!implementer || !variant || !part || !revision) return std::nullopt;
    uint32_t value =
        (*implementer & 0xff) << 24 | (*variant & 0xf) << 20 | 0xfu << 16 | (*part & 0xfff) << 4 | (*revision & 0xf);
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
  }
};

}  // namespace

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo info;
  Identification id;
  std::set<std::string> midrs;
  auto finish = [&] {
    if (auto midr = id.midr()) midrs.insert(*midr);
    id = Identification();
  };
  for (std::string_view line : split(text, '\n')) {
    size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "processor") {
      finish();
      ++info.processors;
      continue;
    }
    if (key == "CPU implementer") id.implementer = parse_number(value);
    if (key == "CPU variant") id.variant = parse_number(value);
    if (key == "CPU part") id.part = parse_number(value);
    if (key == "CPU revision") id.revision = parse_number(value);
    if (info.processors > 1 || value.empty() || value.size() > 65536) continue;
    if (key == "vendor_id") info.vendor = value;
    if (key == "cpu family") info.family = parse_int(value);
    if (key == "model") info.model = parse_int(value);
    if (key == "stepping") info.stepping = parse_int(value);
    if (key == "model name") info.model_name = value.substr(0, 256);
    if (key == "microcode") info.microcode = value.substr(0, 64);
    if ((key == "flags" || key == "Features") && info.flags.empty()) words(value, info.flags);
  }
  finish();
  if (!midrs.empty() && midrs.size() <= 16) info.midr = join({midrs.begin(), midrs.end()}, "+");
  return info;
}

namespace {

void flatten(const Json& list, LscpuFields& fields) {
  for (const Json& entry : list.as_array()) {
    std::string name(trim(entry["field"].as_string()));
    if (name.ends_with(':')) name.pop_back();
    if (!name.empty() && entry["data"].is_string()) fields.emplace(name, entry["data"].as_string());
    flatten(entry["children"], fields);
  }
}

}  // namespace

Result<LscpuFields> parse_lscpu_json(std::string_view text) {
  BENCHCTL_TRY(Json json, Json::parse(text, {.bytes = 1 << 20, .depth = 16, .values = 20'000}));
  LscpuFields fields;
  flatten(json["lscpu"], fields);
  if (fields.empty()) return Error{ErrorKind::kInternal, "not the output of lscpu -J"};
  return fields;
}

std::optional<std::string> lscpu_text(const LscpuFields& fields, const std::string& name) {
  auto found = fields.find(name);
  if (found == fields.end()) return std::nullopt;
  std::string value(trim(found->second));
  if (value.empty() || value == "-") return std::nullopt;
  return value;
}

std::optional<int64_t> lscpu_int(const LscpuFields& fields, const std::string& name) {
  auto value = lscpu_text(fields, name);
  return value ? parse_int(*value) : std::nullopt;
}

Topology lscpu_topology(const LscpuFields& fields) {
  auto positive = [&](const std::string& name) {
    auto value = lscpu_int(fields, name);
    return value && *value > 0 && *value <= 65536 ? value : std::nullopt;
  };
  Topology topology;
  topology.sockets = positive("Socket(s)");
  topology.threads = positive("CPU(s)");
  auto per_socket = positive("Core(s) per socket");
  auto per_cluster = positive("Core(s) per cluster"), clusters = positive("Cluster(s)");
  if (per_socket && topology.sockets) topology.cores = *per_socket * *topology.sockets;
  if (!topology.cores && per_cluster && clusters) topology.cores = *per_cluster * *clusters;
  return topology;
}

std::optional<CacheSize> parse_cache_size(std::string_view text) {
  text = trim(text);
  CacheSize cache;
  if (size_t paren = text.find('('); paren != std::string_view::npos) {
    std::string_view count = text.substr(paren + 1);
    auto instances = parse_int(count.substr(0, count.find(' ')));
    if (!instances || *instances < 1 || *instances > 65536) return std::nullopt;
    cache.instances = *instances;
    text = trim(text.substr(0, paren));
  }
  size_t digits = text.find_first_not_of("0123456789.");
  auto value = parse_double(text.substr(0, digits));
  std::string_view unit = digits == std::string_view::npos ? "" : trim(text.substr(digits));
  double factor = unit == "K" || unit == "KiB"   ? 1024
                  : unit == "M" || unit == "MiB" ? 1024 * 1024
                  : unit == "G" || unit == "GiB" ? 1024.0 * 1024 * 1024
                  : unit.empty() || unit == "B"  ? 1
                                                 : 0;
  if (!value || factor == 0 || *value < 0 || *value > 1e6) return std::nullopt;
  cache.bytes = static_cast<int64_t>(*value * factor);
  if (cache.instances > 0) cache.bytes /= cache.instances;
  return cache;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  constexpr int64_t kMaxCpus = 8192;  // the kernel's own limit
  std::vector<bool> listed;
  text = trim(text);
  if (text.empty()) return std::vector<int>{};
  for (std::string_view part : split(text, ',')) {
    size_t dash = part.find('-');
    auto first = parse_int(part.substr(0, dash));
    auto last = dash == std::string_view::npos ? first : parse_int(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMaxCpus) return std::nullopt;
    if (static_cast<int64_t>(listed.size()) <= *last) listed.resize(static_cast<size_t>(*last) + 1);
    std::fill(listed.begin() + *first, listed.begin() + *last + 1, true);
  }
  std::vector<int> cpus;
  for (size_t cpu = 0; cpu < listed.size(); ++cpu)
    if (listed[cpu]) cpus.push_back(static_cast<int>(cpu));
  return cpus;
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (size_t begin = 0, end; begin < cpus.size(); begin = end) {
    for (end = begin + 1; end < cpus.size() && cpus[end] == cpus[end - 1] + 1;) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[begin]);
    if (end - begin > 1) text += '-' + std::to_string(cpus[end - 1]);
  }
  return text;
}

std::optional<std::string> parse_bracketed(std::string_view text) {
  size_t open = text.find('['), close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos || close - open > 64) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace benchctl
