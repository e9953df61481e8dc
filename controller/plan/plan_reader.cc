#include "controller/plan/plan_reader.h"

#include "controller/plan/overrides.h"
#include "controller/plan/sections.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

void read_head(TableReader& top, Plan& plan) {
  const toml::Node* schema = top.get("schema");
  if (schema == nullptr) {
    top.missing("schema", "schema = 1");
  } else if (schema->kind != toml::Node::Kind::kInteger || schema->integer != 1) {
    top.wrong("schema", "must be 1, the only one that this version reads");
  }
  top.text("name", plan.name, 64);
  if (!top.has("name")) top.missing("name", "a name for its runs, such as name = \"local\"");
  if (!plan.name.empty() && !valid_id(plan.name))
    top.wrong("name", "must be a-z, 0-9 and - only, not " + quoted(plan.name));
}

std::string content_sha256(const PlanSource& source, const std::vector<std::string>& sets) {
  Sha256 hash;
  hash.update(source.text);
  for (const std::string& set : sets) {
    hash.update(std::string_view("\0--set ", 7));
    hash.update(set);
  }
  return hash.hex();
}

void note_places(const toml::Node& node, const std::string& path, const Findings& findings, int depth, Plan& plan) {
  plan.places[path] = findings.where(node.place);
  if (depth == 0) return;
  for (const auto& [key, value] : node.members) note_places(value, path + "." + key, findings, depth - 1, plan);
  for (size_t i = 0; i < node.items.size(); ++i)
    if (node.items[i].kind == toml::Node::Kind::kTable)
      note_places(node.items[i], path + "." + std::to_string(i), findings, depth - 1, plan);
}

}  // namespace

std::string Plan::where(std::string key) const {
  while (true) {
    if (auto place = places.find(key); place != places.end()) return place->second;
    size_t dot = key.rfind('.');
    if (dot == std::string::npos) return file + ": ";
    key.resize(dot);
  }
}

Result<Plan> read_plan(const PlanSource& source, const std::vector<Workload>& workloads,
                       const std::vector<std::string>& sets) {
  BENCHCTL_TRY(toml::Node root, toml::parse(source.text, source.file));
  Findings findings(source.file, sets);
  apply_sets(root, sets, findings);
  Plan plan;
  plan.file = source.file;
  plan.root = source.root;
  plan.sha256 = content_sha256(source, sets);
  PlanContext context{source, workloads, findings};
  TableReader top(root, "", findings);
  read_head(top, plan);
  read_fleets(top, context, plan);
  read_harden(top, context, plan);
  read_limits(top, context, plan);
  read_schedule(top, context, plan);
  read_noise(top, context, plan);
  read_suites(top, context, plan);
  read_builds(top, context, plan);
  read_report(top, context, plan);
  top.refuse_unknown();
  if (findings.ok()) check_whole(root, context, plan);
  if (!findings.ok()) return findings.as_error();
  plan.warnings = findings.warnings();
  // After all else: the sections' caps have bounded how much there is.
  for (const char* section : {"fleet", "harden", "limits", "suite", "build"})
    if (const toml::Node* node = root.find(section)) note_places(*node, section, findings, 4, plan);
  return plan;
}

std::vector<std::string> trust_needs(const Plan& plan) {
  std::vector<std::string> needs;
  for (const auto& [name, build] : plan.builds)
    needs.push_back("[build." + sanitize(name, 64) + "] runs " + sanitize(shell_quote(build.run), 300));
  for (const auto& [name, fleet] : plan.fleets) {
    if (fleet.spec.provider != "local") continue;
    for (const Suite& suite : plan.suites)
      if (!suite.command.empty())
        needs.push_back("suite " + suite.name + " runs " + sanitize(shell_quote(suite.command), 300));
  }
  return needs;
}

Status check_trust(const Plan& plan, const std::string& trusted) {
  std::vector<std::string> needs = trust_needs(plan);
  if (needs.empty() || trusted == plan.sha256) return {};
  std::string said = trusted.empty() ? "" : " (--trust-plan " + sanitize(trusted, 70) + " is another content of it)";
  return Error{ErrorKind::kUsage, plan.file + ": this plan runs commands on this computer: " + join(needs, "; ") +
                                      said + ". When you trust it, add --trust-plan " + plan.sha256};
}

}  // namespace benchctl
