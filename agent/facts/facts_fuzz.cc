// Any bytes as facts, and as each text that facts are made of: the parsers are bounded and say nothing rather than
// nonsense; facts that are taken have keys and equal themselves.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "agent/facts/cpu_text.h"
#include "agent/facts/system_text.h"
#include "lib/wire/facts.h"

namespace {

using namespace benchctl;

void check(bool holds) {
  if (!holds) std::abort();
}

void facts(std::string_view text) {
  auto facts = parse_facts(text);
  if (!facts) return check(!facts.error().message.empty());
  check(fingerprint(*facts).size() == 64);
  check(hardware_key(*facts).size() == 64);
  check(diff_facts(*facts, *facts).as_array().empty());
  auto again = parse_facts(facts->document.dump());
  if (again) check(fingerprint(*again) == fingerprint(*facts) && hardware_key(*again) == hardware_key(*facts));
}

void cpu_texts(std::string_view text) {
  CpuInfo info = parse_cpuinfo(text);
  check(info.flags.size() <= 1024);
  if (auto fields = parse_lscpu_json(text)) {
    check(!fields->empty());
    Topology topology = lscpu_topology(*fields);
    check(!topology.cores || *topology.cores > 0);
    for (const auto& [name, value] : *fields) parse_cache_size(value);
  }
  if (auto cache = parse_cache_size(text)) check(cache->bytes >= 0 && cache->instances >= 0);
  if (auto cpus = parse_cpu_list(text)) {
    check(cpus->size() <= 8192);
    check(parse_cpu_list(format_cpu_list(*cpus)) == cpus);
  }
  parse_bracketed(text);
}

void system_texts(std::string_view text) {
  for (const auto& [name, bytes] : parse_meminfo(text)) check(bytes >= 0);
  parse_os_release(text);
  if (auto stat = parse_proc_stat(text)) check(stat->cpu_ticks >= 0);
  auto mounts = parse_mountinfo(text);
  mount_of(mounts, "/var/lib/benchctl");
  // A mount table and a cgroup file in one input, apart by an empty line.
  std::string_view own = text.substr(std::min(text.find("\n\n"), text.size()));
  for (const char* controller : {"cpu", "memory"}) check(cgroup_folders(mounts, own, controller).folders.size() <= 33);
  for (const char* protocol : {"tcp", "udp6"})
    for (const Socket& socket : parse_proc_net(text, protocol)) check(socket.port >= 0 && socket.port <= 65535);
  if (auto cpus = parse_cpu_max(text)) check(*cpus > 0);
  parse_timers(text);
  parse_units(text);
  parse_auxv_page_size(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 65536) return 0;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  facts(text);
  cpu_texts(text);
  system_texts(text);
  return 0;
}
