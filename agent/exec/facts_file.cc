#include "agent/exec/facts_file.h"

#include "agent/facts/collect.h"

namespace benchctl {

Status write_facts(const RunFolder& folder, const std::string& name, Clock& clock) {
  FactsOptions options;
  options.workdir = folder.work();
  return write_atomic(folder.file(name), collect_facts(options, clock).dump_pretty());
}

}  // namespace benchctl
