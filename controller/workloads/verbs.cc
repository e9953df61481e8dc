#include "controller/workloads/verbs.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "controller/workloads/build.h"
#include "controller/workloads/check.h"
#include "controller/workloads/fit.h"
#include "controller/workloads/template.h"
#include "controller/workloads/workload.h"
#include "lib/json.h"
#include "lib/text.h"

namespace benchctl {
namespace {

Result<Workload> find_workload(const std::string& root, const std::string& name) {
  BENCHCTL_TRY(auto all, load_workloads(root));
  std::vector<std::string> known;
  for (Workload& one : all) {
    if (one.name == name) return std::move(one);
    known.push_back(one.name);
  }
  auto near = did_you_mean(name, known);
  return Error{ErrorKind::kUsage,
               "there is no workload \"" + sanitize(name, 80) + "\"" +
                   (near ? "; did you mean \"" + *near + "\"?" : "; there are: " + join(known, ", "))};
}

// All where no name is given.
Result<std::vector<Workload>> wanted_workloads(const std::string& root, const std::string& name) {
  if (name.empty()) return load_workloads(root);
  BENCHCTL_TRY(Workload one, find_workload(root, name));
  std::vector<Workload> wanted;
  wanted.push_back(std::move(one));
  return wanted;
}

// Of the named arms those that each workload has, in the order of `wanted`. One that none of them has is kUsage, so
// that nothing is built for a name that is wrong.
Result<std::vector<std::vector<std::string>>> arms_of_each(const std::vector<Workload>& wanted,
                                                           const std::vector<std::string>& arms) {
  std::vector<std::vector<std::string>> each(wanted.size());
  for (const std::string& arm : arms) {
    bool found = false;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].arm(arm) == nullptr) continue;
      each[i].push_back(arm);
      found = true;
    }
    if (found) continue;
    if (wanted.size() == 1) BENCHCTL_CHECK(find_arm(wanted.front(), arm));
    std::vector<std::string> known;
    for (const Workload& workload : wanted)
      for (const ArmDecl& one : workload.arms) known.push_back(one.name);
    auto near = did_you_mean(arm, known);
    return Error{ErrorKind::kUsage,
                 "no workload has an arm \"" + sanitize(arm, 80) + "\"" +
                     (near ? "; did you mean \"" + *near + "\"?" : "; `benchctl workloads list` shows all")};
  }
  return each;
}

const char* name_of(Readiness state) {
  return state == Readiness::kBuilt ? "built" : state == Readiness::kNotBuiltYet ? "not built yet" : "not built";
}

// Of the recipe that is most ready among the arm's.
Outlook outlook_of(const Workload& workload, const ArmDecl& arm, Toolchains& toolchains, BuildContext& context) {
  Outlook best;
  bool first = true;
  for (const std::string& build : arm.all_builds()) {
    const BuildDecl& recipe = *workload.build(build);
    auto target = target_for(workload, recipe, {});
    Outlook one = target ? look_at(workload, recipe, *target, toolchains, context)
                         : Outlook{Readiness::kCannot, target.error().message, target.error().kind};
    if (first || one.state < best.state) best = std::move(one);
    first = false;
  }
  return best;
}

Json describe(const Workload& workload, Toolchains& toolchains, BuildContext& context) {
  Json json = Json::object();
  json.set("name", workload.name);
  json.set("version", workload.version);
  json.set("help", workload.help);
  json.set("baseline", workload.baseline);
  Json modes = Json::array(), arms = Json::array();
  for (const ModeDecl& mode : workload.modes) {
    Json one = Json::object();
    one.set("name", mode.name);
    one.set("format", mode.format);
    one.set("help", mode.help);
    Json params = Json::object();
    for (const ParamDecl& param : mode.params) params.set(param.name, param.default_value);
    one.set("params", params);
    modes.push(one);
  }
  for (const ArmDecl& arm : workload.arms) {
    Json one = Json::object();
    one.set("name", arm.name);
    one.set("help", arm.help);
    one.set("build", arm.build);
    one.set("limits", arm.limits);
    Outlook outlook = outlook_of(workload, arm, toolchains, context);
    one.set("state", name_of(outlook.state));
    one.set("why", outlook.why);
    arms.push(one);
  }
  json.set("modes", modes);
  json.set("arms", arms);
  return json;
}

// The words with the mode's parameters at their defaults, a list's first, but for the items.
std::vector<std::string> at_defaults(const std::vector<std::string>& words, const ModeDecl& mode, int64_t items) {
  std::map<std::string, std::string> params;
  for (const ParamDecl& param : mode.params)
    params[param.name] =
        param.name == "items" ? std::to_string(items) : param.default_value.substr(0, param.default_value.find(','));
  std::vector<std::string> filled;
  for (const std::string& word : words) filled.push_back(fill_template(word, params));
  return filled;
}

// The mode whose rows carry checks.
Result<const ModeDecl*> checked_mode(const Workload& workload) {
  for (const ModeDecl& mode : workload.modes)
    if (mode.format != "concurrent") return &mode;
  return Error{ErrorKind::kUsage, "workload " + workload.name + " has no mode whose rows carry a check"};
}

// Which mode and which arms there are, a column each.
void print_workload(const Workload& workload, Toolchains& toolchains, BuildContext& context, std::ostream& out) {
  out << workload.name << " " << workload.version << "  " << workload.help << "\n";
  for (const ModeDecl& mode : workload.modes) {
    out << "  mode " << mode.name << "  " << mode.help << "\n";
    for (const ParamDecl& param : mode.params)
      out << "    " << param.name << " = " << param.default_value << "  " << param.help << "\n";
  }
  for (const ArmDecl& arm : workload.arms) {
    Outlook outlook = outlook_of(workload, arm, toolchains, context);
    out << "  arm  " << arm.name << (arm.name == workload.baseline ? " (baseline)" : "") << "  " << arm.help << " ["
        << name_of(outlook.state) << "]\n";
    if (!outlook.why.empty()) out << "       not built: " << outlook.why << "\n";
  }
}

// The bundle that an arm runs from on this computer, or why there is none. Under an emulator CPU and libc are not ours.
struct ArmRun {
  const Bundle* bundle = nullptr;
  std::string why;
};
ArmRun look_for(const Workload& workload, const ArmDecl& arm, const Builds& made, const MachineTraits& here) {
  ArmRun run;
  for (const std::string& build : arm.all_builds()) {
    for (const NotBuilt& missing : made.missing)
      if (missing.build == build && run.why.empty()) run.why = "not built: " + missing.why.message;
    for (const Bundle& bundle : made.bundles) {
      if (bundle.build != build) continue;
      std::string why = bundle.manifest["arch"].as_string() == here.arch ? unfit(bundle.manifest, here) : "";
      if (why.empty()) return {&bundle, ""};
      if (run.why.empty()) run.why = workload.name + "/" + build + ": " + why;
    }
  }
  return run;
}

// What of the failures makes the whole verb fail: a recipe that broke, or one that was asked for by name.
Status verdict_on(const Workload& workload, const Builds& made, bool named) {
  const std::string baseline = workload.arm(workload.baseline)->build;
  std::vector<std::string> reasons;
  ErrorKind kind = ErrorKind::kUsage;
  for (const NotBuilt& missing : made.missing) {
    bool broken = missing.why.kind == ErrorKind::kWorkload;
    if (!broken && !named && missing.build != baseline) continue;
    if (broken) kind = ErrorKind::kWorkload;
    reasons.push_back(missing.why.message);
  }
  if (reasons.empty()) return {};
  return Error{kind, join(reasons, "\n")};
}

}  // namespace

Status workloads_list(const std::string& name, BuildContext& context, bool json, std::ostream& out) {
  BENCHCTL_TRY(auto all, wanted_workloads(context.root, name));
  Toolchains toolchains(context, true);
  Json list = Json::array();
  for (size_t i = 0; i < all.size(); ++i) {
    if (json) {
      list.push(describe(all[i], toolchains, context));
    } else {
      if (i > 0) out << "\n";
      print_workload(all[i], toolchains, context, out);
    }
  }
  if (json) out << list.dump_pretty() << "\n";
  return {};
}

Status workloads_build(const std::string& name, const BuildOptions& options, BuildContext& context, std::ostream& out) {
  BENCHCTL_TRY(auto wanted, wanted_workloads(context.root, name));
  BENCHCTL_TRY(auto arms, arms_of_each(wanted, options.arms));
  Json list = Json::array();
  std::vector<Error> errors;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!options.arms.empty() && arms[i].empty()) continue;
    const Workload& workload = wanted[i];
    BENCHCTL_TRY(Builds made, build_each(workload, arms[i], options.wish, context));
    for (const Bundle& bundle : made.bundles) {
      if (!options.json)
        out << bundle.workload << "/" << bundle.build << "  " << bundle.sha256 << "  " << bundle.folder << "\n";
      Json one = Json::object();
      one.set("sha256", bundle.sha256);
      one.set("folder", bundle.folder);
      one.set("manifest", bundle.manifest);
      list.push(one);
    }
    for (const NotBuilt& missing : made.missing) {
      if (!options.json) out << workload.name << "/" << missing.build << "  not built: " << missing.why.message << "\n";
      list.push(Json::object({{"workload", workload.name}, {"build", missing.build}, {"why", missing.why.message}}));
    }
    if (Status verdict = verdict_on(workload, made, !options.arms.empty()); !verdict) errors.push_back(verdict.error());
  }
  if (options.json) out << list.dump_pretty() << "\n";
  if (errors.empty()) return {};
  Error all = errors.front();
  for (size_t i = 1; i < errors.size(); ++i) {
    all.message += "\n" + errors[i].message;
    if (errors[i].kind == ErrorKind::kWorkload) all.kind = ErrorKind::kWorkload;
  }
  return all;
}

Status workloads_check(const std::string& name, const CheckOptions& options, BuildContext& context, std::ostream& out) {
  BENCHCTL_TRY(Workload workload, find_workload(context.root, name));
  std::vector<std::string> arms = options.arms;
  if (!arms.empty() && std::find(arms.begin(), arms.end(), workload.baseline) == arms.end())
    arms.push_back(workload.baseline);
  BENCHCTL_TRY(Builds made, build_each(workload, arms, options.wish, context));
  BENCHCTL_CHECK(verdict_on(workload, made, !arms.empty()));
  BENCHCTL_TRY(const ModeDecl* mode, checked_mode(workload));
  const auto words = at_defaults(mode->argv, *mode, options.items);
  const auto trace = at_defaults(workload.trace, *mode, options.items);
  std::vector<ArmEvidence> evidence;
  std::vector<std::string> left_out;
  const MachineTraits here = these_traits();
  for (const ArmDecl& arm : workload.arms) {
    if (!arms.empty() && std::find(arms.begin(), arms.end(), arm.name) == arms.end()) continue;
    const auto& only = arm.only_modes;
    if (!only.empty() && std::find(only.begin(), only.end(), mode->name) == only.end()) continue;
    ArmRun run = look_for(workload, arm, made, here);
    if (run.bundle == nullptr) {
      left_out.push_back(arm.name + ": " + run.why);
      continue;
    }
    context.tell("");
    context.say(workload.name + ": running " + arm.name);
    ArmEvidence one{arm.name, "", {}};
    if (!workload.trace.empty()) {
      BENCHCTL_TRY(one.trace, run_arm(workload, arm, *run.bundle, trace, context));
    }
    auto csv = run_arm(workload, arm, *run.bundle, words, context);
    if (!csv && csv.error().kind == ErrorKind::kRejected) {
      left_out.push_back(arm.name + ": " + csv.error().message);
      continue;
    }
    if (!csv) return csv.error();
    BENCHCTL_TRY(one.checks, checks_of(*csv, mode->format, arm.name));
    evidence.push_back(std::move(one));
  }
  for (const std::string& line : left_out) context.say(workload.name + ": not run: " + line);
  BENCHCTL_CHECK(compare_evidence(workload.baseline, evidence));
  out << workload.name << ": checks agree (" << evidence.size() << " arms, " << options.items << " items"
      << (workload.trace.empty() ? "" : ", traces identical")
      << (left_out.empty() ? "" : "; " + std::to_string(left_out.size()) + " not run here, see above") << ")\n";
  return {};
}

Status workloads_trace(const std::string& name, const std::string& arm_name, BuildContext& context, std::ostream& out) {
  BENCHCTL_TRY(Workload workload, find_workload(context.root, name));
  if (workload.trace.empty()) return Error{ErrorKind::kUsage, "workload " + name + " has no trace"};
  BENCHCTL_TRY(const ArmDecl* arm, find_arm(workload, arm_name.empty() ? workload.baseline : arm_name));
  BENCHCTL_TRY(auto bundles, build_bundles(workload, {arm->name}, context));
  BENCHCTL_TRY(std::string trace, run_arm(workload, *arm, *bundle_of(bundles, *arm),
                                          at_defaults(workload.trace, workload.modes.front(), 1), context));
  out << trace;
  return {};
}

}  // namespace benchctl
