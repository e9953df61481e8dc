// `claims RUN`: published figures held against a run's samples.
#include <iostream>

#include "controller/analysis/analysis_client.h"
#include "controller/claims/claim_json.h"
#include "controller/claims/claim_reader.h"
#include "controller/cli/run_claims.h"
#include "controller/cli/verbs.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kAnalysisMs = 10 * 60'000;

struct Arguments {
  std::string run;
  std::vector<std::string> files;
  bool require = false, json = false;
};

// The files named, else those that the run's plan named when it began, else all that come with benchctl.
Result<Json> claims_for(Context& context, Parts& parts, const RunRow& run, std::vector<std::string> files) {
  if (files.empty()) {
    BENCHCTL_TRY(RunClaims saved, saved_claims(run.folder));
    if (!saved.claims.as_array().empty()) return saved.claims;
    const std::string folder = context.source_root + "/claims";
    BENCHCTL_TRY(auto names, list_dir(folder));
    for (const std::string& name : names)
      if (name.ends_with(".toml")) files.push_back(folder + "/" + name);
  }
  BENCHCTL_TRY(auto workloads, parts.workloads());
  Json all = Json::array();
  for (const std::string& name : files) {
    BENCHCTL_TRY(ClaimFile file, load_claims(name, name, workloads));
    add_to(all, file);
  }
  return all;
}

Result<int> claims(Context& context, Parts& parts, const Arguments& arguments) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_TRY(RunRow run, find_run(*store, arguments.run));
  BENCHCTL_TRY(Json wanted, claims_for(context, parts, run, arguments.files));
  Json request = Json::object({{"verb", "claims"},
                               {"store", parts.store_path()},
                               {"run", run.id},
                               {"width", context.width},
                               {"claims", std::move(wanted)}});
  AnalysisEnv environment = analysis_env(context.source_root, context.python);
  BENCHCTL_TRY(Json answer, analyse(std::move(request), environment, *context.clock,
                                    Deadline::in(*context.clock, std::chrono::milliseconds(kAnalysisMs))));
  const Json& verdicts = answer["claims"];
  if (arguments.json) {
    std::cout << Json::object({{"run", run.id}, {"claims", verdicts}}).dump() << "\n";
  } else if (verdicts.as_array().empty()) {
    std::cout << "run " << run.id << " has no machine with trials: there is nothing to hold claims against\n";
  } else {
    std::cout << "run " << run.id << "\n" << answer["terminal"].as_string() << "\n";
  }
  if (!arguments.require) return 0;
  std::string unmet = unmet_claims(verdicts);
  if (unmet.empty()) return 0;
  return Error{ErrorKind::kRegression, unmet};
}

}  // namespace

Verb claims_verb(Context& context, Parts& parts) {
  auto a = std::make_shared<Arguments>();
  return {"claims", "hold published figures against a run: which of them this machine reproduces",
          "benchctl claims sqlite-claims-quick --claims claims/sqlite.toml",
          [a](Options& options) {
            options.positional("RUN", a->run, false, "a run id or a unique beginning; default: the latest");
            options.texts("--claims", a->files,
                          "a file of claims (repeatable); default: those of the run's plan, else all of claims/");
            options.flag("--require-claims", a->require,
                         "exit 3 when a claim is not reproduced, or none could be tested");
            options.flag("--json", a->json, "the verdicts as JSON");
          },
          [a, &context, &parts] { return claims(context, parts, *a); }};
}

}  // namespace benchctl
