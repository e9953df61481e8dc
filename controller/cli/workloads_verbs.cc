// `workloads list | build | check | trace`.
#include <iostream>

#include "controller/cli/ship.h"
#include "controller/cli/verbs.h"
#include "controller/workloads/verbs.h"

namespace benchctl {
namespace {

struct Arguments {
  std::string name;
  std::string arm;
  std::vector<std::string> arms;
  int64_t items = 1000;
  bool json = false;
};

Result<int> done(const Status& status) {
  if (!status) return status.error();
  return 0;
}

}  // namespace

std::vector<Verb> workloads_verbs(Context& context, Parts&) {
  auto a = std::make_shared<Arguments>();
  auto say = [](const std::string& line) { std::cerr << line << "\n"; };
  auto arms = [a](Options& options) { options.texts("--arm", a->arms, "only this arm (repeatable)"); };
  auto json = [a](Options& options) { options.flag("--json", a->json, "as JSON"); };
  return {{"workloads list", "list workloads, their modes, parameters and arms", "benchctl workloads list", json,
           [a, &context] { return done(workloads_list(context.source_root + "/workloads", a->json, std::cout)); }},
          {"workloads build", "build what is not built yet", "benchctl workloads build request_shape",
           [=](Options& options) {
             options.positional("NAME", a->name, false, "a workload; default: all");
             arms(options);
             json(options);
           },
           [=, &context] {
             BuildContext build = build_context(context, say);
             return done(workloads_build(a->name, a->arms, build, a->json, std::cout));
           }},
          {"workloads check", "run every arm once here and compare what it did: exit 6 when arms differ",
           "benchctl workloads check request_shape",
           [=](Options& options) {
             options.positional("NAME", a->name, true, "a workload");
             options.integer("--items", a->items, 1, 10'000'000, "size of the run (default 1000)");
             arms(options);
           },
           [=, &context] {
             BuildContext build = build_context(context, say);
             return done(workloads_check(a->name, {a->items, a->arms}, build, std::cout));
           }},
          {"workloads trace", "print every statement that one request of an arm executes",
           "benchctl workloads trace request_shape c_sqlite",
           [=](Options& options) {
             options.positional("NAME", a->name, true, "a workload");
             options.positional("ARM", a->arm, true, "one of its arms");
           },
           [=, &context] {
             BuildContext build = build_context(context, say);
             return done(workloads_trace(a->name, a->arm, build, std::cout));
           }}};
}

}  // namespace benchctl
