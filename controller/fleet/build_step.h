// The step of a slot that has the machine compile its own programs: sources shipped, recipes run there, logs brought
// home.
#pragma once

#include <functional>
#include <string>

#include "controller/fleet/run_context.h"
#include "controller/remote/agent_client.h"
#include "lib/wire/facts.h"

namespace benchctl {

struct BuildStep {
  const RunInput& input;
  Store& store;
  Clock& clock;
  AgentClient& agent;
  const Facts& facts;
  std::string machine;
  std::string provider;         // for how to get what is missing
  std::function<Nanos()> time;  // that the next recipe may take
  std::function<void(const std::string&)> say, now;
};

// Every recipe of the suites that are built on the machine. What came of them is in load_builds() when it returns well,
// and the bundles are in the store. An arm that is not built is left out later, with its reason. But where it may not
// be left out (it is named and skip_unbuilt is not set, or it is the baseline) the step fails: kWorkload, a recipe
// broke; kRejected, the machine lacks the tools.
Status build_on_machine(const BuildStep& step);

}  // namespace benchctl
