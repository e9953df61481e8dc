#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/json.h"
#include "lib/sha256.h"
#include "lib/wire/event.h"
#include "lib/wire/facts.h"
#include "lib/wire/job.h"
#include "lib/wire/trial.h"

namespace benchctl {

Verb version_verb(Context& context) {
  auto json = std::make_shared<bool>(false);
  return {"version", "print the versions of benchctl, its agent and its formats", "benchctl version --json",
          [json](Options& options) { options.flag("--json", *json, "as JSON"); },
          [json, &context]() -> Result<int> {
            auto agent = sha256_file(context.agent);
            Json answer = Json::object();
            answer.set("benchctl", BENCHCTL_VERSION);
            answer.set("agent_sha256", agent ? Json(*agent) : Json());
            answer.set("job", kJobVersion);
            answer.set("event", kEventVersion);
            answer.set("trial", kTrialVersion);
            answer.set("facts", kFactsVersion);
            if (*json) {
              std::cout << answer.dump() << "\n";
            } else {
              std::cout << "benchctl " BENCHCTL_VERSION "\nagent "
                        << (agent ? *agent : "not built: " + agent.error().message) << "\nformats: job " << kJobVersion
                        << ", event " << kEventVersion << ", trial " << kTrialVersion << ", facts " << kFactsVersion
                        << "\n";
            }
            return 0;
          }};
}

}  // namespace benchctl
