// `probe local`: the facts of this computer, as a run would record them.
#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/wire/facts.h"
#include "provisioning/command.h"

namespace benchctl {
namespace {

Result<int> probe(Context& context, const std::string& host, bool json) {
  if (host != "local")
    return Error{
        ErrorKind::kUsage,
        "only `probe local` is available in this version; other machines show their facts in the report of a run"};
  CommandSpec command;
  command.argv = {context.agent, "facts", "--workdir", "."};
  command.deadline = Deadline::in(*context.clock, std::chrono::seconds(60));
  BENCHCTL_TRY(std::string text, run_checked(command, *context.clock));
  BENCHCTL_TRY(Facts facts, parse_facts(text));
  facts.document.set("fingerprint", fingerprint(facts));
  facts.document.set("hardware", hardware_key(facts));
  std::cout << (json ? facts.document.dump() + "\n" : facts.document.dump_pretty());
  return 0;
}

}  // namespace

Verb probe_verb(Context& context, Parts&) {
  auto host = std::make_shared<std::string>("local");
  auto json = std::make_shared<bool>(false);
  return {"probe", "print the facts of a machine: CPU, memory, kernel, disk …", "benchctl probe local",
          [host, json](Options& options) {
            options.positional("HOST", *host, false, "local");
            options.flag("--json", *json, "as one line of JSON");
          },
          [host, json, &context] { return probe(context, *host, *json); }};
}

}  // namespace benchctl
