// `doctor`: can this computer do the job? Each line is one thing looked at, with what to do when it is not there.
#include <unistd.h>

#include <iostream>

#include "controller/cli/verbs.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

struct Finding {
  std::string subject;
  std::string problem;  // empty: good
};

Result<int> doctor(Context& context, Parts& parts, bool json) {
  std::vector<Finding> findings;
  auto look = [&](const std::string& subject, const Status& status) {
    findings.push_back({subject, status.ok() ? "" : status.error().message});
  };
  auto executable = [&](const std::string& path, const std::string& repair) -> Status {
    if (access(path.c_str(), X_OK) == 0) return {};
    return Error{ErrorKind::kInternal, path + " is missing; " + repair};
  };
  look("agent", executable(context.agent, "build it: setup/build"));
  look("analysis", executable(context.python, "make its environment: setup/install (runs still collect without it)"));
  for (const std::string& name : parts.provider_names()) {
    MachineSpec spec;
    spec.provider = name;
    spec.image = "trixie";
    look("provider " + name, parts.provider(name)->check(spec));
  }
  auto workloads = parts.workloads();
  look("workloads", workloads ? Status() : workloads.error());
  look("cache " + context.cache, check_cache(context));
  auto store = parts.store();
  look("store " + parts.store_path(), store ? Status() : store.error());
  if (store) {
    auto free = free_bytes(context.home);
    if (free && *free < (int64_t{1} << 30))
      findings.push_back({"disk", "only " + format_bytes(*free) + " free below " + context.home});
  }

  bool any_provider = false, healthy = true;
  for (const Finding& finding : findings) {
    bool provider = finding.subject.starts_with("provider ");
    any_provider = any_provider || (provider && finding.problem.empty());
    // One provider is enough, and a run without analysis still collects.
    if (!provider && finding.subject != "analysis" && !finding.problem.empty()) healthy = false;
  }
  healthy = healthy && any_provider;
  if (json) {
    Json all = Json::object();
    all.set("healthy", healthy);
    for (const Finding& finding : findings) all.set(finding.subject, finding.problem.empty() ? "ok" : finding.problem);
    std::cout << all.dump() << "\n";
  } else {
    for (const Finding& finding : findings)
      std::cout << (finding.problem.empty() ? "ok    " : "LOOK  ") << finding.subject
                << (finding.problem.empty() ? "" : ": " + finding.problem) << "\n";
  }
  return healthy ? 0 : 1;
}

}  // namespace

Verb doctor_verb(Context& context, Parts& parts) {
  auto json = std::make_shared<bool>(false);
  return {"doctor", "look whether this computer has what benchctl needs", "benchctl doctor",
          [json](Options& options) { options.flag("--json", *json, "as JSON"); },
          [json, &context, &parts] { return doctor(context, parts, *json); }};
}

}  // namespace benchctl
