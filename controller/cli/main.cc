#include <iostream>

#include "controller/cli/process.h"
#include "controller/cli/verbs.h"

using namespace benchctl;

int main(int argc, char** argv) {
  auto failed = [](const Error& error) {
    std::cerr << "benchctl: " << error.message << "\n";
    return exit_code(error.kind);
  };
  auto credentials = protect_process();
  if (!credentials) return failed(credentials.error());
  auto context = read_context();
  if (!context) return failed(context.error());
  context->credentials = std::move(*credentials);
  Parts parts(*context);
  std::vector<Verb> verbs = {run_verb(*context, parts),    try_verb(*context, parts),    status_verb(*context, parts),
                             resume_verb(*context, parts), attach_verb(*context, parts), cancel_verb(*context, parts),
                             reap_verb(*context, parts)};
  auto add = [&](std::vector<Verb> more) { verbs.insert(verbs.end(), more.begin(), more.end()); };
  add(machine_verbs(*context, parts));
  add({logs_verb(*context, parts), report_verb(*context, parts), claims_verb(*context, parts),
       probe_verb(*context, parts), harden_verb(*context, parts)});
  add(plan_verbs(*context, parts));
  add(workloads_verbs(*context, parts));
  add({watchdog_verb(*context, parts), doctor_verb(*context, parts), version_verb(*context)});
  std::vector<Group> groups = {{"machine", "list, enter or keep machines"},
                               {"plan", "check, show or begin a plan"},
                               {"workloads", "list, build or check workloads"}};
  return finish_output(run_command_line(groups, verbs, argc, argv));
}
