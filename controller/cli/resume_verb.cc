// `resume RUN`: goes on with a run whose controller ended, or that was stopped.
#include "controller/cli/run_pipeline.h"
#include "controller/cli/verbs.h"

namespace benchctl {

Verb resume_verb(Context& context, Parts& parts) {
  auto run = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  return {"resume", "go on with an interrupted run: machines that stand are taken up, missing rounds run",
          "benchctl resume local-20261130",
          [run, json](Options& options) {
            options.positional("RUN", *run, false, "run id or a unique beginning; default: the latest");
            options.flag("--json", *json, "the outcome as JSON on standard output");
          },
          [run, json, &context, &parts] { return carry_on(context, parts, *run, *json); }};
}

}  // namespace benchctl
