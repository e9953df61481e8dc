#include "agent/facts/collect.h"

#include <unistd.h>

#include "agent/facts/tool.h"
#include "agent/facts/world.h"
#include "lib/sha256.h"
#include "lib/wire/facts.h"

namespace benchctl {

Json agent_facts(const World& world) {
  FactGroup group;
  group.set("version", BENCHCTL_VERSION);
  group.set("compiler", __VERSION__);
  group.set("uid", static_cast<int64_t>(geteuid()));
  auto hash = world.live() ? sha256_file("/proc/self/exe") : Error{ErrorKind::kInternal, "a captured tree"};
  group.set("sha256", hash ? std::optional(*hash) : std::nullopt, hash ? "" : hash.error().message);
  return std::move(group).take();
}

Json collect_facts(const FactsOptions& options, Clock& clock) {
  SystemTools system_tools(clock);
  NoTools no_tools;
  std::string root = options.root;
  while (root.ends_with('/')) root.pop_back();
  Tools& tools = options.run_tools && root.empty() ? static_cast<Tools&>(system_tools) : no_tools;
  return collect_facts(World{root, tools, clock}, options);
}

Json collect_facts(const World& world, const FactsOptions& options) {
  Json facts = Json::object();
  facts.set("version", kFactsVersion);
  facts.set("taken_unix_ms", world.clock.unix_ms());
  facts.set("cpu", cpu_facts(world));
  facts.set("virt", virt_facts(world));
  facts.set("memory", memory_facts(world));
  facts.set("kernel", kernel_facts(world));
  facts.set("time", time_facts(world));
  facts.set("os", os_facts(world));
  // Before the disk probe, which would show itself among the busy ones.
  facts.set("state", state_facts(world));
  facts.set("disk", disk_facts(world, options.workdir, options.probe_disk));
  facts.set("agent", agent_facts(world));
  return facts;
}

}  // namespace benchctl
