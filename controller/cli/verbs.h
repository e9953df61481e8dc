// One function a verb (or group of verbs), each in a file of its own; main.cc lists them.
#pragma once

#include "controller/cli/command_line.h"
#include "controller/cli/parts.h"

namespace benchctl {

Verb run_verb(Context& context, Parts& parts);
Verb try_verb(Context& context, Parts& parts);
Verb status_verb(Context& context, Parts& parts);
Verb resume_verb(Context& context, Parts& parts);
Verb attach_verb(Context& context, Parts& parts);
Verb cancel_verb(Context& context, Parts& parts);
Verb reap_verb(Context& context, Parts& parts);
std::vector<Verb> machine_verbs(Context& context, Parts& parts);
Verb watchdog_verb(Context& context, Parts& parts);
Verb logs_verb(Context& context, Parts& parts);
Verb report_verb(Context& context, Parts& parts);
Verb claims_verb(Context& context, Parts& parts);
Verb probe_verb(Context& context, Parts& parts);
Verb harden_verb(Context& context, Parts& parts);
std::vector<Verb> plan_verbs(Context& context, Parts& parts);
std::vector<Verb> workloads_verbs(Context& context, Parts& parts);
Verb doctor_verb(Context& context, Parts& parts);
Verb version_verb(Context& context);

}  // namespace benchctl
