#include "controller/fleet/requirements.h"

#include <algorithm>
#include <vector>

#include "controller/plan/pattern.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Bytes that a trial can have: a container sees all memory of its host in total_bytes, and its own share as the limit.
int64_t usable_memory(const Facts& facts) {
  int64_t total = facts.get("memory", "total_bytes").as_int();
  int64_t limit = facts.get("memory", "limit_bytes").as_int();
  return limit > 0 && limit < total ? limit : total;
}

}  // namespace

Status meets(const Require& require, const Facts& facts, bool isolated) {
  std::vector<std::string> unmet;
  std::vector<std::string> flags = facts.get("cpu", "flags").as_strings();
  for (const std::string& flag : require.cpu_flags)
    if (std::find(flags.begin(), flags.end(), flag) == flags.end()) unmet.push_back("CPU flag " + flag + " is missing");
  std::string model = facts.text("cpu", "model_name");
  if (!require.cpu_model.empty() && !pattern_matches(require.cpu_model, model))
    unmet.push_back("cpu_model asks for /" + require.cpu_model + "/, this is \"" + sanitize(model, 200) + "\"");
  int64_t memory = usable_memory(facts);
  if (memory < require.memory_bytes)
    unmet.push_back("memory " + format_bytes(memory) + " is below " + format_bytes(require.memory_bytes));
  if (require.cpu_class == "dedicated" && !isolated)
    unmet.push_back("cpu_class asks for dedicated cores, this machine shares them with this computer");
  if (unmet.empty()) return {};
  return Error{ErrorKind::kRejected, "the machine is not what [require] asks for: " + join(unmet, "; ")};
}

std::string describe(const Facts& facts) {
  std::vector<std::string> parts;
  auto add = [&](std::string text) {
    if (!text.empty()) parts.push_back(sanitize(text, 120));
  };
  add(facts.text("cpu", "model_name"));
  if (int64_t cpus = facts.get("cpu", "cpus_usable").as_int(); cpus > 0)
    add(std::to_string(cpus) + (cpus == 1 ? " CPU" : " CPUs"));
  if (int64_t memory = usable_memory(facts); memory > 0) add(format_bytes(memory));
  add(facts.text("virt", "kind"));
  add(facts.text("os", "pretty_name"));
  if (std::string release = facts.text("kernel", "release"); !release.empty()) add("Linux " + release);
  return join(parts, ", ");
}

}  // namespace benchctl
