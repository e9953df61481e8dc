// `report RUN…`: writes the reports of finished runs again from the store.
#include <iostream>

#include "controller/cli/run_pipeline.h"
#include "controller/cli/verbs.h"
#include "controller/fleet/execute.h"

namespace benchctl {
namespace {

Result<int> report(Context& context, Parts& parts, std::vector<std::string> words, bool json) {
  BENCHCTL_TRY(Store * store, parts.store());
  if (words.empty()) words.emplace_back();
  int code = 0;
  for (const std::string& word : words) {
    BENCHCTL_TRY(RunRow run, find_run(*store, word));
    BENCHCTL_TRY(ReportAnswer answer, make_report(context, parts, run, true));
    if (answer.checks_disagree) code = exit_code(ErrorKind::kWorkload);
    if (json) {
      Json one = Json::object();
      one.set("run", run.id);
      one.set("files", answer.files);
      one.set("checks_disagree", answer.checks_disagree);
      std::cout << one.dump() << "\n";
    } else {
      std::cout << answer.terminal << "\n";
    }
  }
  return code;
}

}  // namespace

Verb report_verb(Context& context, Parts& parts) {
  auto runs = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  return {"report", "write the reports of runs again, and print their summaries", "benchctl report",
          [runs, json](Options& options) {
            options.positionals("RUN", *runs, false, "run ids or unique beginnings; default: the latest");
            options.flag("--json", *json, "the files written, as JSON");
          },
          [runs, json, &context, &parts] { return report(context, parts, *runs, *json); }};
}

}  // namespace benchctl
