// `[user@]host[:port]` on the command line: a machine that is kept, taken for one piece of work and given back.
#pragma once

#include <functional>
#include <string>

#include "controller/cli/command_line.h"
#include "controller/cli/parts.h"
#include "controller/remote/agent_client.h"

namespace benchctl {

struct KeptHostArguments {
  std::string host;
  std::string key = "~/.ssh/id_ed25519";
  std::string host_key;  // empty: the one that was accepted before
  std::string become;

  void declare_options(Options& options);  // all but the host itself
};

// Takes the machine's lock, installs the agent in a private folder, does the work and gives both back, whatever the
// work came to. An error of giving back is said when the work itself was good. `purpose` ([a-z-]) is what the lock
// says.
Result<int> on_kept_host(Context& context, Parts& parts, const KeptHostArguments& arguments, const std::string& purpose,
                         const std::function<Result<int>(AgentClient&, Transport&)>& work);

}  // namespace benchctl
