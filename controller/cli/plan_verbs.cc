// `plan check | show | init`.
#include <iostream>

#include "controller/cli/run_claims.h"
#include "controller/cli/ship.h"
#include "controller/cli/verbs.h"
#include "controller/plan/plan_reader.h"
#include "controller/plan/plan_text.h"
#include "lib/files.h"

namespace benchctl {
namespace {

struct Arguments {
  std::string file;
  std::vector<std::string> sets;
  bool json = false, untrusted = false, skip_unbuilt = false;
};

Result<int> check(Context& context, Parts& parts, const Arguments& arguments) {
  BENCHCTL_TRY(auto workloads, parts.workloads());
  BENCHCTL_TRY(PlanSource source, load_plan_source(arguments.file));
  auto plan = [&]() -> Result<Plan> {
    BENCHCTL_TRY(Plan read, read_plan(source, workloads, arguments.sets));
    BENCHCTL_CHECK(parts.check_policy(read, arguments.untrusted));
    if (arguments.skip_unbuilt) skip_unbuilt(read);
    Foresight bundles = foresee_bundles(context, read, workloads);
    BENCHCTL_CHECK(bundles.verdict);
    for (const std::string& note : bundles.notes) read.warnings.push_back(read.file + ": warning: " + note);
    BENCHCTL_TRY(PlanClaims claims, read_plan_claims(read, workloads));
    read.warnings.insert(read.warnings.end(), claims.warnings.begin(), claims.warnings.end());
    return read;
  }();
  if (arguments.json) {
    std::cout << plan_check_json(arguments.file, plan).dump() << "\n";
    return plan ? 0 : exit_code(plan.error().kind);
  }
  if (!plan) return plan.error();
  BENCHCTL_CHECK(check_plan(*plan, workloads, source.host, false, std::cout));
  return 0;
}

Result<int> show(Parts& parts, const Arguments& arguments) {
  BENCHCTL_TRY(auto workloads, parts.workloads());
  BENCHCTL_TRY(PlanSource source, load_plan_source(arguments.file));
  BENCHCTL_TRY(Plan plan, read_plan(source, workloads, arguments.sets));
  BENCHCTL_CHECK(show_plan(plan, workloads, source.host, arguments.json, std::cout));
  return 0;
}

Result<int> init(const std::string& file) {
  std::string text = plan_template();
  if (file.empty()) {
    std::cout << text;
    return 0;
  }
  if (exists(file)) return Error{ErrorKind::kUsage, file + " exists already; choose another name"};
  if (auto written = write_atomic(file, text, 0644); !written)
    return Error{ErrorKind::kUsage, file + " cannot be written: " + written.error().message};
  std::cerr << file << " written; look at it by: benchctl plan check " << file << "\n";
  return 0;
}

}  // namespace

std::vector<Verb> plan_verbs(Context& context, Parts& parts) {
  auto a = std::make_shared<Arguments>();
  auto declare = [a](Options& options) {
    options.positional("FILE", a->file, true, "the plan file");
    options.texts("--set", a->sets, "override a value: --set schedule.runs=20 (repeatable)");
    options.flag("--json", a->json, "as JSON");
  };
  auto declare_check = [a, declare](Options& options) {
    declare(options);
    options.flag("--skip-unbuilt", a->skip_unbuilt, "arms that cannot be built here are no mistake, see run");
    options.flag("--untrusted", a->untrusted, "as a plan that may come from a stranger, see run");
  };
  return {{"plan check", "find every mistake of a plan, without effects", "benchctl plan check plans/local.toml",
           declare_check, [a, &context, &parts] { return check(context, parts, *a); }},
          {"plan show", "print what a plan resolves to: arms, points, trials, expected time and cost",
           "benchctl plan show plans/local.toml", declare, [a, &parts] { return show(parts, *a); }},
          {"plan init", "write a commented plan to begin with", "benchctl plan init my-plan.toml",
           [a](Options& options) { options.positional("FILE", a->file, false, "where to; default: standard output"); },
           [a] { return init(a->file); }}};
}

}  // namespace benchctl
