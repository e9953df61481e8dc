// Facts of the machine, as an agent can know them without changing anything. See docs/formats/facts.md for every key.
#pragma once

#include <string>

#include "lib/clock.h"
#include "lib/json.h"

namespace benchctl {

struct FactsOptions {
  std::string root = "/";  // prefix for /proc, /sys and /etc: tests replay captured trees
  std::string workdir;     // the disk group describes where this lies; empty: no disk probe, its facts are null
  bool run_tools = true;   // lscpu, lsblk, systemctl …; false: files only
  bool probe_disk = true;  // 200 × 4 KiB write + fdatasync in `workdir`
};

// A document for parse_facts() of lib/wire/facts.h. Never fails: what cannot be known is null and has its reason in
// `<group>.why.<key>`. Bounded: every file and every command has a cap on size, every command one on time.
Json collect_facts(const FactsOptions& options, Clock& clock);

}  // namespace benchctl
