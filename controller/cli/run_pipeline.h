// From a plan that has been read to a report: bundles, the run itself, the analysis, the exit code. `run`, `try` and
// `resume` share it.
#pragma once

#include <string>

#include "controller/cli/parts.h"
#include "controller/cli/run_claims.h"
#include "controller/plan/plan.h"
#include "lib/json.h"

namespace benchctl {

struct RunRequest {
  Plan plan;
  std::string id;        // empty: made from the plan's name and the time
  std::string runs_dir;  // absolute; the run's folder is made below it
  int64_t keep_ms = 0;
  bool json = false;  // the outcome as JSON instead of the summary
  RunClaims claims;
};

std::string new_run_id(const std::string& plan_name, Clock& clock);

// The store for this run alone, which must be a new one. kInterrupted: another run has the store; kUsage: the id cannot
// be had.
Result<FileLock> claim_new_run(Store& store, const std::string& id, Clock& clock);

// Prints the summary on standard output, progress on standard error; gives the exit code.
Result<int> carry_out(Context& context, Parts& parts, const RunRequest& request);

// Goes on with a run that was interrupted or whose controller is gone: `word` as in find_run(). A complete run is good.
Result<int> carry_on(Context& context, Parts& parts, const std::string& word, bool json);

// Writes the reports of a finished run again from the store, and prints the summary. `exit_code` of 6 when checks
// disagree. An error when the analysis is not available: the run's samples are safe all the same.
struct ReportAnswer {
  std::string terminal;
  std::vector<std::string> files;
  bool checks_disagree = false;
  Json claims;               // a verdict for each claim and machine
  std::string unmet_claims;  // why the run fails by them; empty unless it was begun with --require-claims
};
Result<ReportAnswer> make_report(Context& context, Parts& parts, const RunRow& run, bool redact);

}  // namespace benchctl
