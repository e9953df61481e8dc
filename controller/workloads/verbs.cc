#include "controller/workloads/verbs.h"

#include <algorithm>
#include <ostream>

#include "controller/workloads/build.h"
#include "controller/workloads/check.h"
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

Result<const ArmDecl*> find_arm(const Workload& workload, const std::string& name) {
  if (const ArmDecl* arm = workload.arm(name)) return arm;
  std::vector<std::string> known;
  for (const ArmDecl& arm : workload.arms) known.push_back(arm.name);
  auto near = did_you_mean(name, known);
  return Error{ErrorKind::kUsage, "workload " + workload.name + " has no arm \"" + sanitize(name, 80) + "\"" +
                                      (near ? "; did you mean \"" + *near + "\"?" : "; it has " + join(known, ", "))};
}

const Bundle& bundle_of(const std::vector<Bundle>& bundles, const ArmDecl& arm) {
  return *std::find_if(bundles.begin(), bundles.end(), [&](const Bundle& one) { return one.build == arm.build; });
}

Json describe(const Workload& workload) {
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
    arms.push(one);
  }
  json.set("modes", modes);
  json.set("arms", arms);
  return json;
}

// The words with the mode's parameters at their defaults, a list's first, but for the items.
std::vector<std::string> at_defaults(const std::vector<std::string>& words, const ModeDecl& mode, int64_t items) {
  std::vector<std::string> filled;
  for (std::string word : words) {
    for (const ParamDecl& param : mode.params) {
      std::string value =
          param.name == "items" ? std::to_string(items) : param.default_value.substr(0, param.default_value.find(','));
      const std::string hole = "{" + param.name + "}";
      for (size_t at = word.find(hole); at != std::string::npos; at = word.find(hole, at + value.size()))
        word.replace(at, hole.size(), value);
    }
    filled.push_back(word);
  }
  return filled;
}

// The mode whose rows carry checks.
Result<const ModeDecl*> checked_mode(const Workload& workload) {
  for (const ModeDecl& mode : workload.modes)
    if (mode.format != "concurrent") return &mode;
  return Error{ErrorKind::kUsage, "workload " + workload.name + " has no mode whose rows carry a check"};
}

}  // namespace

Status workloads_list(const std::string& root, bool json, std::ostream& out) {
  BENCHCTL_TRY(auto all, load_workloads(root));
  Json list = Json::array();
  for (const Workload& workload : all) {
    if (json) {
      list.push(describe(workload));
      continue;
    }
    out << workload.name << " " << workload.version << "  " << workload.help << "\n";
    for (const ModeDecl& mode : workload.modes) {
      out << "  mode " << mode.name << "  " << mode.help << "\n";
      for (const ParamDecl& param : mode.params)
        out << "    " << param.name << " = " << param.default_value << "  " << param.help << "\n";
    }
    for (const ArmDecl& arm : workload.arms)
      out << "  arm  " << arm.name << (arm.name == workload.baseline ? " (baseline)" : "") << "  " << arm.help << "\n";
  }
  if (json) out << list.dump_pretty() << "\n";
  return {};
}

Status workloads_build(const std::string& name, const std::vector<std::string>& arms, BuildContext& context, bool json,
                       std::ostream& out) {
  std::vector<Workload> wanted;
  if (name.empty()) {
    BENCHCTL_TRY(wanted, load_workloads(context.root));
  } else {
    BENCHCTL_TRY(Workload one, find_workload(context.root, name));
    wanted.push_back(std::move(one));
  }
  Json list = Json::array();
  for (const Workload& workload : wanted) {
    BENCHCTL_TRY(auto bundles, build_bundles(workload, arms, context));
    for (const Bundle& bundle : bundles) {
      if (!json)
        out << bundle.workload << "/" << bundle.build << "  " << bundle.sha256 << "  " << bundle.folder << "\n";
      Json one = Json::object();
      one.set("sha256", bundle.sha256);
      one.set("folder", bundle.folder);
      one.set("manifest", bundle.manifest);
      list.push(one);
    }
  }
  if (json) out << list.dump_pretty() << "\n";
  return {};
}

Status workloads_check(const std::string& name, const CheckOptions& options, BuildContext& context, std::ostream& out) {
  BENCHCTL_TRY(Workload workload, find_workload(context.root, name));
  std::vector<std::string> arms = options.arms;
  if (!arms.empty() && std::find(arms.begin(), arms.end(), workload.baseline) == arms.end())
    arms.push_back(workload.baseline);
  BENCHCTL_TRY(auto bundles, build_bundles(workload, arms, context));
  BENCHCTL_TRY(const ModeDecl* mode, checked_mode(workload));
  const auto words = at_defaults(mode->argv, *mode, options.items);
  const auto trace = at_defaults(workload.trace, *mode, options.items);
  std::vector<ArmEvidence> evidence;
  for (const ArmDecl& arm : workload.arms) {
    if (!arms.empty() && std::find(arms.begin(), arms.end(), arm.name) == arms.end()) continue;
    context.say(workload.name + ": running " + arm.name);
    ArmEvidence one{arm.name, "", {}};
    if (!workload.trace.empty()) {
      BENCHCTL_TRY(one.trace, run_arm(workload, arm, bundle_of(bundles, arm), trace, context));
    }
    BENCHCTL_TRY(std::string csv, run_arm(workload, arm, bundle_of(bundles, arm), words, context));
    BENCHCTL_TRY(one.checks, checks_of(csv, mode->format, arm.name));
    evidence.push_back(std::move(one));
  }
  BENCHCTL_CHECK(compare_evidence(workload.baseline, evidence));
  out << workload.name << ": checks agree (" << evidence.size() << " arms, " << options.items << " items"
      << (workload.trace.empty() ? "" : ", traces identical") << ")\n";
  return {};
}

Status workloads_trace(const std::string& name, const std::string& arm_name, BuildContext& context, std::ostream& out) {
  BENCHCTL_TRY(Workload workload, find_workload(context.root, name));
  if (workload.trace.empty()) return Error{ErrorKind::kUsage, "workload " + name + " has no trace"};
  BENCHCTL_TRY(const ArmDecl* arm, find_arm(workload, arm_name.empty() ? workload.baseline : arm_name));
  BENCHCTL_TRY(auto bundles, build_bundles(workload, {arm->name}, context));
  BENCHCTL_TRY(std::string trace, run_arm(workload, *arm, bundles.front(),
                                          at_defaults(workload.trace, workload.modes.front(), 1), context));
  out << trace;
  return {};
}

}  // namespace benchctl
