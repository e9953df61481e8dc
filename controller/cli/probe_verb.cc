// `probe`: the facts of this computer or of a machine that is kept, as a run would record them.
#include <iostream>

#include "controller/cli/kept_host.h"
#include "controller/cli/verbs.h"
#include "lib/wire/facts.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

Result<int> show(Facts facts, bool json) {
  facts.document.set("fingerprint", fingerprint(facts));
  facts.document.set("hardware", hardware_key(facts));
  std::cout << (json ? facts.document.dump() + "\n" : facts.document.dump_pretty());
  return 0;
}

Result<int> probe_local(Context& context, bool json) {
  CommandSpec command;
  command.argv = {context.agent, "facts", "--workdir", "."};
  command.deadline = Deadline::in(*context.clock, std::chrono::seconds(60));
  BENCHCTL_TRY(std::string text, run_checked(command, *context.clock));
  BENCHCTL_TRY(Facts facts, parse_facts(text));
  return show(std::move(facts), json);
}

}  // namespace

Verb probe_verb(Context& context, Parts& parts) {
  auto arguments = std::make_shared<KeptHostArguments>();
  arguments->host = "local";
  auto json = std::make_shared<bool>(false);
  return {"probe", "print the facts of a machine: CPU, memory, kernel, disk …",
          "benchctl probe bench@10.0.0.7 --host-key accept-first",
          [arguments, json](Options& options) {
            options.positional("HOST", arguments->host, false,
                               "local, or [user@]host[:port] of a machine that is kept");
            arguments->declare_options(options);
            options.flag("--json", *json, "as one line of JSON");
          },
          [arguments, json, &context, &parts]() -> Result<int> {
            if (arguments->host == "local") return probe_local(context, *json);
            // Shown once the machine is given back: whoever reads may have gone, and printing would end us.
            Facts facts;
            auto probed =
                on_kept_host(context, parts, *arguments, "probe", [&](AgentClient& agent, Transport&) -> Result<int> {
                  BENCHCTL_TRY(facts, agent.facts(Deadline::in(*context.clock, std::chrono::minutes(2))));
                  return 0;
                });
            if (!probed) return probed;
            return show(std::move(facts), *json);
          }};
}

}  // namespace benchctl
