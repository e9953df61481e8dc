// `workloads list | build | check | trace`.
#include <iostream>

#include "controller/cli/build_progress.h"
#include "controller/cli/ship.h"
#include "controller/cli/verbs.h"
#include "controller/workloads/verbs.h"

namespace benchctl {
namespace {

struct Arguments {
  std::string name;
  std::string arm;
  std::vector<std::string> arms;
  std::string arch, isa;
  int64_t items = 1000;
  bool json = false;
};

// With progress on standard error while `work` runs.
Result<int> with_progress(Context& context, const std::function<Status(BuildContext&)>& work) {
  BuildProgress progress(*context.clock, context.terminal_errors, context.width);
  BuildContext build = build_context(context, [&](const std::string& line) { progress.say(line); });
  build.now = [&](const std::string& text) { progress.now(text); };
  BENCHCTL_CHECK(work(build));
  return 0;
}

// The same for what builds.
Result<int> with_cache(Context& context, const std::function<Status(BuildContext&)>& work) {
  BENCHCTL_CHECK(check_cache(context));
  return with_progress(context, work);
}

}  // namespace

std::vector<Verb> workloads_verbs(Context& context, Parts&) {
  auto a = std::make_shared<Arguments>();
  auto arms = [a](Options& options) { options.texts("--arm", a->arms, "only this arm (repeatable)"); };
  auto wish = [a](Options& options) {
    options.text("--arch", a->arch, "for machines of this architecture: x86_64 or aarch64 (default: this computer's)");
    options.text("--isa", a->isa, "for CPUs of this level where a recipe knows it, such as x86-64-v3");
  };
  auto json = [a](Options& options) { options.flag("--json", a->json, "as JSON"); };
  return {{"workloads list", "list workloads, their modes, parameters and arms, and which arms are built",
           "benchctl workloads list request_shape",
           [=](Options& options) {
             options.positional("NAME", a->name, false, "a workload; default: all");
             json(options);
           },
           [=, &context] {
             return with_progress(
                 context, [=](BuildContext& build) { return workloads_list(a->name, build, a->json, std::cout); });
           }},
          {"workloads build", "build what is not built yet", "benchctl workloads build request_shape",
           [=](Options& options) {
             options.positional("NAME", a->name, false, "a workload; default: all");
             arms(options);
             wish(options);
             json(options);
           },
           [=, &context] {
             return with_cache(context, [=](BuildContext& build) {
               return workloads_build(a->name, {a->arms, {a->arch, a->isa}, a->json}, build, std::cout);
             });
           }},
          {"workloads check", "run every arm once here and compare what it did: exit 6 when arms differ",
           "benchctl workloads check request_shape",
           [=](Options& options) {
             options.positional("NAME", a->name, true, "a workload");
             options.integer("--items", a->items, 1, 10'000'000, "size of the run (default 1000)");
             arms(options);
             wish(options);
           },
           [=, &context] {
             return with_cache(context, [=](BuildContext& build) {
               return workloads_check(a->name, {a->items, a->arms, {a->arch, a->isa}}, build, std::cout);
             });
           }},
          {"workloads trace", "print every statement that one request of an arm executes",
           "benchctl workloads trace request_shape c_sqlite",
           [=](Options& options) {
             options.positional("NAME", a->name, true, "a workload");
             options.positional("ARM", a->arm, true, "one of its arms");
           },
           [=, &context] {
             return with_cache(context,
                               [=](BuildContext& build) { return workloads_trace(a->name, a->arm, build, std::cout); });
           }}};
}

}  // namespace benchctl
