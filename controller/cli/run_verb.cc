// `run --plan FILE`: the main job.
#include <fnmatch.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>

#include "controller/cli/detached.h"
#include "controller/cli/process.h"
#include "controller/cli/run_claims.h"
#include "controller/cli/run_pipeline.h"
#include "controller/cli/ship.h"
#include "controller/cli/verbs.h"
#include "controller/plan/plan_reader.h"
#include "controller/plan/plan_text.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// How long a detached run may take to take the store over, before we go all the same.
constexpr std::chrono::seconds kHandOver{20};

struct Arguments {
  std::string plan;
  std::vector<std::string> sets;
  std::string only, out, keep, id, trust;
  int64_t runs = 0, warmup_rounds = -1;
  bool dry_run = false, yes = false, detach = false, json = false, untrusted = false, skip_unbuilt = false;
  bool require_claims = false;
};

Result<std::string> absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char here[4096];
  if (getcwd(here, sizeof here) == nullptr) return errno_error("working directory");
  return std::string(here) + "/" + path;
}

// Keeps the suites and arms that match "suite" or "suite/arm".
Status keep_only(Plan& plan, const std::string& pattern) {
  auto matches = [&](const std::string& text) { return fnmatch(pattern.c_str(), text.c_str(), 0) == 0; };
  std::vector<Suite> kept;
  for (Suite suite : plan.suites) {
    if (!matches(suite.name)) {
      std::erase_if(suite.arms, [&](const std::string& arm) { return !matches(suite.name + "/" + arm); });
      if (suite.arms.empty()) continue;
      if (std::find(suite.arms.begin(), suite.arms.end(), suite.baseline) == suite.arms.end())
        suite.baseline = suite.arms.front();
    }
    kept.push_back(std::move(suite));
  }
  if (kept.empty())
    return Error{ErrorKind::kUsage,
                 "--only \"" + sanitize(pattern, 100) + "\" matches no suite and no suite/arm of the plan"};
  plan.suites = std::move(kept);
  return {};
}

Result<bool> confirmed(const Plan& plan, const Arguments& arguments) {
  bool costs = std::any_of(plan.fleets.begin(), plan.fleets.end(), [](const auto& fleet) {
    const std::string& provider = fleet.second.spec.provider;
    return provider != "nspawn" && provider != "local" && provider != "ssh";
  });
  if (arguments.yes || !costs) return true;
  if (isatty(STDIN_FILENO) != 1) return Error{ErrorKind::kUsage, "this plan makes machines that cost money: say --yes"};
  std::cerr << "This plan makes machines that cost money. Go on? [y/N] ";
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

// A session of its own, with progress in the run's log only. It is benchctl again: it gets the credentials in its
// environment and takes them out of there as its first act. Whoever reads our answer finds the run, or why it is none.
Result<int> detach(const std::vector<std::string>& words, const std::string& id, Context& context, Parts& parts) {
  BENCHCTL_TRY(Store * store, parts.store());
  BENCHCTL_CHECK(claim_new_run(*store, id, *context.clock));
  const std::string log = parts.runs_dir() + "/" + id + ".log";
  std::vector<std::string> environment = environment_with(context.credentials);
  pid_t child = start_detached(words, environment, log);
  for (std::string& entry : environment) explicit_bzero(entry.data(), entry.size());
  if (child < 0) return errno_error("fork");
  for (Deadline end = Deadline::in(*context.clock, kHandOver); !end.passed(*context.clock);) {
    BENCHCTL_TRY(auto holder, lock_holder(*store));
    if (holder && holder->run == id) break;
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
      std::cerr << "benchctl: the run ended before any machine was made: see " << log << "\n";
      return WIFEXITED(status) ? WEXITSTATUS(status) : exit_code(ErrorKind::kInternal);
    }
    context.clock->sleep(std::chrono::milliseconds(20));
  }
  std::cout << id << "\n";
  std::cerr << "running as process " << child << "; follow it by: benchctl attach " << id << "\n";
  return 0;
}

Result<int> run(Context& context, Parts& parts, const Arguments& arguments) {
  std::vector<std::string> sets = arguments.sets;
  if (arguments.runs > 0) sets.push_back("schedule.runs=" + std::to_string(arguments.runs));
  if (arguments.warmup_rounds >= 0) sets.push_back("schedule.warmup_rounds=" + std::to_string(arguments.warmup_rounds));
  BENCHCTL_TRY(auto workloads, parts.workloads());
  BENCHCTL_TRY(PlanSource source, load_plan_source(arguments.plan));
  BENCHCTL_TRY(Plan plan, read_plan(source, workloads, sets));
  if (!arguments.only.empty()) BENCHCTL_CHECK(keep_only(plan, arguments.only));
  if (arguments.skip_unbuilt) skip_unbuilt(plan);
  const bool untrusted = arguments.untrusted || context.untrusted;
  if (untrusted && !arguments.trust.empty())
    return Error{ErrorKind::kUsage,
                 "--trust-plan says that the plan is trusted, --untrusted that it is not: leave one out"};
  BENCHCTL_CHECK(parts.check_policy(plan, untrusted));
  BENCHCTL_CHECK(check_trust(plan, arguments.trust));
  BENCHCTL_TRY(PlanClaims claims, read_plan_claims(plan, workloads));
  if (arguments.require_claims && plan.claims.empty())
    return Error{ErrorKind::kUsage, "--require-claims needs claims in [report] of the plan"};
  plan.warnings.insert(plan.warnings.end(), claims.warnings.begin(), claims.warnings.end());
  if (arguments.dry_run) {
    BENCHCTL_CHECK(show_plan(plan, workloads, source.host, arguments.json, std::cout));
    return 0;
  }
  BENCHCTL_TRY(bool go, confirmed(plan, arguments));
  if (!go) return 0;

  RunRequest request;
  request.plan = std::move(plan);
  request.json = arguments.json;
  request.claims = {std::move(claims.claims), arguments.require_claims};
  request.id = arguments.id;
  request.runs_dir = parts.runs_dir();
  if (!arguments.out.empty()) {
    BENCHCTL_TRY(request.runs_dir, absolute(arguments.out));
    if (auto made = make_dirs(request.runs_dir); !made)
      return Error{ErrorKind::kUsage, "--out: " + made.error().message};
  }
  if (!arguments.keep.empty()) {
    auto span = parse_duration_ms(arguments.keep);
    if (!span)
      return Error{ErrorKind::kUsage,
                   "--keep \"" + sanitize(arguments.keep, 60) + "\" is no time span; write 30m or 2h"};
    if (*span <= 0 || *span > kLongestKeepMs)
      return Error{ErrorKind::kUsage,
                   "--keep must be above 0 and at most 7 days, not \"" + sanitize(arguments.keep, 60) + "\""};
    request.keep_ms = *span;
  }
  if (!arguments.detach) return carry_out(context, parts, request);

  if (request.id.empty()) request.id = new_run_id(request.plan.name, *context.clock);
  BENCHCTL_CHECK(make_dirs(parts.runs_dir()));
  std::vector<std::string> words = {"benchctl", "run",      "--plan", arguments.plan,  "--yes",
                                    "--id",     request.id, "--out",  request.runs_dir};
  if (untrusted) words.push_back("--untrusted");
  if (arguments.skip_unbuilt) words.push_back("--skip-unbuilt");
  if (arguments.require_claims) words.push_back("--require-claims");
  for (const std::string& set : sets) words.insert(words.end(), {"--set", set});
  for (auto [name, value] : {std::pair("--only", arguments.only), std::pair("--keep", arguments.keep),
                             std::pair("--trust-plan", arguments.trust)})
    if (!value.empty()) words.insert(words.end(), {name, value});
  return detach(words, request.id, context, parts);
}

}  // namespace

Verb run_verb(Context& context, Parts& parts) {
  auto a = std::make_shared<Arguments>();
  return {"run", "run a plan: make machines, measure, bring the results home, remove the machines, report",
          "benchctl run --plan plans/local.toml",
          [a](Options& options) {
            options.text("--plan", a->plan, "the plan file (required)");
            options.texts("--set", a->sets, "override a value of the plan: --set fleet.small.count=3 (repeatable)");
            options.integer("--runs", a->runs, 1, 10'000, "scored rounds, instead of the plan's");
            options.integer("--warmup-rounds", a->warmup_rounds, 0, 100, "warm-up rounds, instead of the plan's");
            options.text("--only", a->only, "only what matches this glob: a suite, or suite/arm");
            options.text("--out", a->out, "folder below which the run's folder is made");
            options.text("--keep", a->keep, "keep the machines this long after the run: 30m, 2h");
            options.text("--id", a->id, "the run's id, instead of one made from plan and time");
            options.text("--trust-plan", a->trust,
                         "SHA256 of a plan that may run programs of its own on this computer");
            options.flag("--untrusted", a->untrusted,
                         "the plan may come from a stranger: only what [untrusted] of the policy allows");
            options.flag("--skip-unbuilt", a->skip_unbuilt,
                         "leave out arms that cannot be built here, also those that the plan names");
            options.flag("--require-claims", a->require_claims,
                         "exit 3 when a claim of the plan is not reproduced, or none could be tested");
            options.flag("--dry-run", a->dry_run, "show what would run, and stop");
            options.flag("--yes", a->yes, "do not ask before machines that cost money are made");
            options.flag("--detach", a->detach, "go on in the background; see attach");
            options.flag("--json", a->json, "the outcome as JSON on standard output");
          },
          [a, &context, &parts]() -> Result<int> {
            if (a->plan.empty())
              return Error{ErrorKind::kUsage, "--plan FILE is missing; begin one by: benchctl plan init my-plan.toml"};
            return run(context, parts, *a);
          }};
}

}  // namespace benchctl
