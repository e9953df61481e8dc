// Facts of a machine: a JSON document of groups; each value is a value or null, and then `<group>.why.<key>` says the
// reason. The agent writes it, everyone else reads it through these functions and never trusts its texts.
#pragma once

#include <string>
#include <vector>

#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

inline constexpr int kFactsVersion = 1;

// {"version":1, "taken_unix_ms":…, "cpu":{…,"why":{…}}, "virt":{…}, "memory":{…}, "kernel":{…}, "disk":{…}, "time":{…},
//  "os":{…}, "state":{…}, "agent":{…}}
// Keys used by the core (docs/formats/facts.md lists all):
//   cpu.architecture vendor family model stepping model_name flags[] microcode online cpus_usable sockets cores threads
//   numa_nodes caches{} governor no_turbo boost midr vulnerabilities{}
//   virt.kind hypervisor dmi_vendor dmi_product clocksource   memory.total_bytes thp swap_bytes
//   kernel.release version cmdline boot_id   os.id version_id pretty_name libc   disk.filesystem mount_options
//   disk.fsync_p50_us disk.fsync_p99_us
struct Facts {
  Json document = Json::object();

  const Json& get(std::string_view group, std::string_view key) const { return document[group][key]; }
  std::string text(std::string_view group, std::string_view key) const { return get(group, key).as_string(); }
};

Result<Facts> parse_facts(std::string_view text);

// Keys of results.md: sha256 over a canonical line of the named facts. `fingerprint` is the whole machine, `hardware`
// the same without kernel, microcode, mitigations, clocksource, THP and memory. Volatile facts are in neither.
std::string fingerprint(const Facts& facts);
std::string hardware_key(const Facts& facts);

// Stable facts that differ: [{"fact":"cpu.microcode","before":…,"after":…}, …]; members of an object are told one by
// one ("cpu.vulnerabilities.meltdown"), an absent fact is null. The whole `state` group, reasons and what changes on an
// untouched machine (free space, latencies, boot id, clock offset) are not compared.
Json diff_facts(const Facts& before, const Facts& after);

}  // namespace benchctl
