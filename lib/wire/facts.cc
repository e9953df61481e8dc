#include "lib/wire/facts.h"

#include <algorithm>
#include <cmath>

#include "lib/sha256.h"

namespace benchctl {
namespace {

constexpr const char* kGroups[] = {"cpu", "virt", "memory", "kernel", "disk", "time", "os", "state", "agent"};

Error bad(const std::string& what) {
  return Error{ErrorKind::kInternal, "facts: " + what};
}

// Members in the order of their names, so that the same facts give the same line however they were written.
Json canonical(const Json& json) {
  if (json.is_array()) {
    Json array = Json::array();
    for (const Json& item : json.as_array()) array.push(canonical(item));
    return array;
  }
  if (!json.is_object()) return json;
  Json::Object members = json.as_object();
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [key, value] : members) value = canonical(value);
  return Json::object(std::move(members));
}

// MemTotal differs by some megabytes from kernel to kernel: whole GiB, below 2 GiB steps of 256 MiB. A limit of the own
// cgroup below the machine's memory counts instead of it.
Json rounded_memory(const Facts& facts) {
  const Json& total = facts.get("memory", "total_bytes");
  const Json& limit = facts.get("memory", "limit_bytes");
  if (!total.is_int()) return {};
  int64_t bytes = limit.is_int() ? std::min(limit.as_int(), total.as_int()) : total.as_int();
  if (bytes < 0 || bytes > int64_t{1} << 60) return {};  // no machine's; rounding it up could overflow
  const int64_t step = bytes >= int64_t{2} << 30 ? int64_t{1} << 30 : int64_t{256} << 20;
  return bytes / step * step + (bytes % step >= step / 2 ? step : 0);
}

class Lines {
 public:
  explicit Lines(std::string text) : text_(std::move(text)) {}
  // JSON text of the value: escaped, so no value can pretend to be another line.
  void add(const std::string& name, const Json& value) { text_ += name + "=" + canonical(value).dump() + "\n"; }
  void add(const Facts& facts, const std::string& group, const std::string& key) {
    add(group + "." + key, facts.get(group, key));
  }
  std::string hash() const { return sha256_hex(text_); }

 private:
  std::string text_;
};

Lines hardware_lines(const Facts& facts, const std::string& title) {
  Lines lines(title + "\n");
  lines.add(facts, "cpu", "architecture");
  if (facts.get("cpu", "midr").is_string()) {
    // arm64: names are lscpu's, and change with its version; the register does not.
    lines.add(facts, "cpu", "midr");
  } else {
    for (const char* key : {"vendor", "family", "model", "stepping", "model_name"}) lines.add(facts, "cpu", key);
  }
  for (const char* key : {"threads", "cores", "sockets", "numa_nodes", "cpus_usable", "caches"})
    lines.add(facts, "cpu", key);
  lines.add(facts, "virt", "kind");
  lines.add(facts, "virt", "hypervisor");
  return lines;
}

}  // namespace

Result<Facts> parse_facts(std::string_view text) {
  auto json = Json::parse(text, {.bytes = 2 << 20, .depth = 16, .values = 50'000});
  if (!json) return json.error().in("facts");
  BENCHCTL_TRY(int64_t version, json->need_int("version"));
  if (version != kFactsVersion)
    return bad("version " + std::to_string(version) + ", this benchctl speaks version " +
               std::to_string(kFactsVersion) + "; agent and controller must come from one build");
  for (const char* group : kGroups)
    if (!(*json)[group].is_object()) return bad(std::string("no group \"") + group + "\"");
  return Facts{*std::move(json)};
}

std::string hardware_key(const Facts& facts) {
  return hardware_lines(facts, "benchctl hardware 1").hash();
}

std::string fingerprint(const Facts& facts) {
  Lines lines = hardware_lines(facts, "benchctl fingerprint 1");
  lines.add("memory", rounded_memory(facts));
  lines.add(facts, "cpu", "microcode");
  lines.add(facts, "kernel", "release");
  lines.add(facts, "kernel", "version");
  lines.add(facts, "cpu", "vulnerabilities");
  lines.add(facts, "virt", "clocksource");
  lines.add(facts, "memory", "thp");
  return lines.hash();
}

namespace {

// Facts that differ between two looks at an unchanged machine.
constexpr const char* kVolatile[] = {
    "cpu.bogomips",
    "cpu.mhz",
    "memory.available_bytes",
    "kernel.boot_id",
    "disk.free_bytes",
    "disk.fsync_writes",
    "disk.fsync_p50_us",
    "disk.fsync_p99_us",
    "disk.fsync_max_us",
    "time.max_error_us",
    "time.slew_pending_us",
    "os.hostname",
    "kernel.sysctls.kernel.perf_event_max_sample_rate",
};

bool is_volatile(const std::string& name) {
  return std::find(std::begin(kVolatile), std::end(kVolatile), name) != std::end(kVolatile);
}

void compare(const std::string& name, const Json& before, const Json& after, Json& differences) {
  if (is_volatile(name) || name.ends_with(".why")) return;
  if (before.is_object() && after.is_object()) {
    for (const auto& [key, value] : before.as_object()) compare(name + "." + key, value, after[key], differences);
    for (const auto& [key, value] : after.as_object())
      if (before.find(key) == nullptr) compare(name + "." + key, Json(), value, differences);
    return;
  }
  if (canonical(before).dump() == canonical(after).dump()) return;
  Json one = Json::object();
  one.set("fact", name);
  one.set("before", before);
  one.set("after", after);
  differences.push(std::move(one));
}

}  // namespace

Json diff_facts(const Facts& before, const Facts& after) {
  Json differences = Json::array();
  for (std::string group : kGroups)
    if (group != "state") compare(group, before.document[group], after.document[group], differences);
  return differences;
}

}  // namespace benchctl
