#include "controller/claims/side_reader.h"

#include <algorithm>

#include "controller/plan/declarations.h"
#include "controller/plan/param_value.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;

constexpr size_t kSides = 16;  // of one geometric mean

template <typename T>
std::vector<std::string> names_of(const std::vector<T>& all) {
  std::vector<std::string> names;
  for (const T& one : all) names.push_back(one.name);
  return names;
}

std::string known(const std::string& word, const std::vector<std::string>& names) {
  return meant(word, names) + "; known: " + listed(names);
}

// What the store calls the columns of the contract's formats; the generic format names its own.
std::vector<std::string> metrics_of(const ModeDecl& mode) {
  if (mode.format == "sequential") return {"total", "per_item"};
  if (mode.format == "concurrent") return {"requests", "requests_per_second", "p50", "p95", "p99", "max", "errors"};
  return {};
}

}  // namespace

void SideReader::error(toml::Place place, const std::string& message) {
  good_ = false;
  if (told_.insert(std::to_string(place.line) + ":" + std::to_string(place.column) + message).second)
    findings_.error(place, message);
}

void SideReader::add(const toml::Node& node, const std::string& name, Draft& draft) {
  TableReader table(node, name, findings_);
  auto field = [&](const char* key, std::optional<Field>& out) {
    std::string text;
    table.text(key, text);
    if (!text.empty()) out = Field{text, table.place(key)};
  };
  field("workload", draft.workload);
  field("mode", draft.mode);
  field("arm", draft.arm);
  field("case", draft.case_name);
  field("metric", draft.metric);
  if (const toml::Node* params = table.table("params"))
    for (const auto& [key, value] : params->members) {
      auto same = [&key = key](const auto& one) { return one.first == key; };
      draft.params.erase(std::remove_if(draft.params.begin(), draft.params.end(), same), draft.params.end());
      draft.params.emplace_back(key, &value);
    }
  table.refuse_unknown();
}

void SideReader::share(const toml::Node& node) {
  add(node, "[claim.select]", shared_);
}

const Workload* SideReader::find_workload(const Draft& draft) {
  const Workload* found = find_named(workloads_, draft.workload->text);
  if (found == nullptr)
    error(draft.workload->place,
          "unknown workload " + quoted(draft.workload->text) + known(draft.workload->text, names_of(workloads_)));
  return found;
}

const ModeDecl* SideReader::find_mode(const Draft& draft, const Workload& workload, toml::Place place) {
  std::vector<std::string> names = names_of(workload.modes);
  if (!draft.mode) {
    if (names.size() == 1) return &workload.modes[0];
    error(place, "a side needs mode: one of " + listed(names));
    return nullptr;
  }
  const ModeDecl* found = find_named(workload.modes, draft.mode->text);
  if (found == nullptr)
    error(draft.mode->place, "workload " + quoted(workload.name) + " has no mode " + quoted(draft.mode->text) +
                                 known(draft.mode->text, names));
  return found;
}

void SideReader::check_arm(const Draft& draft, const Workload& workload, const ModeDecl& mode) {
  std::vector<std::string> names;
  for (const ArmDecl& arm : workload.arms)
    if (arm.only_modes.empty() || std::count(arm.only_modes.begin(), arm.only_modes.end(), mode.name) > 0)
      names.push_back(arm.name);
  if (std::count(names.begin(), names.end(), draft.arm->text) == 0)
    error(draft.arm->place, "workload " + quoted(workload.name) + " has no arm " + quoted(draft.arm->text) +
                                " in mode " + quoted(mode.name) + known(draft.arm->text, names));
}

void SideReader::check_metric(const Draft& draft, const ModeDecl& mode, const std::string& kind) {
  if (!draft.metric || (kind == "equality" && draft.metric->text == "check")) return;
  std::vector<std::string> names = metrics_of(mode);
  if (!names.empty() && std::count(names.begin(), names.end(), draft.metric->text) == 0)
    error(draft.metric->place,
          "a " + mode.format + " mode has no metric " + quoted(draft.metric->text) + known(draft.metric->text, names));
}

// "{benchmark}/all": the value of the side's parameter.
bool SideReader::fill_case(ClaimSide& side, toml::Place place) {
  for (const auto& [name, value] : side.params)
    for (size_t at; (at = side.case_name.find("{" + name + "}")) != std::string::npos;)
      side.case_name.replace(at, name.size() + 2, value);
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.+-/ ()").find(c) != std::string_view::npos;
  };
  if (std::all_of(side.case_name.begin(), side.case_name.end(), fits)) return true;
  error(place, "case " + quoted(side.case_name) +
                   " must be letters, digits, _ . + - and / only, or name a parameter of the side in braces");
  return false;
}

std::vector<ClaimSide> SideReader::with_params(ClaimSide side, const Draft& draft, const ModeDecl& mode) {
  std::vector<ClaimSide> sides{std::move(side)};
  for (const auto& [name, node] : draft.params) {
    const ParamDecl* decl = find_named(mode.params, name);
    if (decl == nullptr) {
      error(node->key_place,
            "mode " + quoted(mode.name) + " has no parameter " + quoted(name) + known(name, names_of(mode.params)));
      continue;
    }
    std::vector<const toml::Node*> values{node};
    if (node->kind == Kind::kArray) {
      values.clear();
      for (const toml::Node& item : node->items) values.push_back(&item);
    }
    std::vector<ClaimSide> more;
    for (const toml::Node* value : values) {
      ParamValue checked = param_value(*decl, *value);
      if (!checked.wrong.empty()) error(value->place, name + " of a side " + checked.wrong);
      for (ClaimSide one : sides) {
        one.params[name] = checked.value;
        more.push_back(std::move(one));
      }
    }
    if (more.empty() || more.size() > kSides) {
      error(node->place, name + " of a side must list 1 to " + std::to_string(kSides) + " values");
      return {};
    }
    sides = std::move(more);
  }
  return sides;
}

std::vector<ClaimSide> SideReader::read(const toml::Node* node, const std::string& name, const std::string& kind,
                                        toml::Place claim) {
  good_ = true;
  Draft draft = shared_;
  if (node != nullptr) add(*node, name, draft);
  const toml::Place place = node != nullptr ? node->place : claim;
  if (kind == "equality" && !draft.metric) draft.metric = Field{"check", place};
  for (const auto& [field, key] : {std::pair(&draft.workload, "workload"), std::pair(&draft.arm, "arm"),
                                   std::pair(&draft.case_name, "case"), std::pair(&draft.metric, "metric")})
    if (!*field) error(place, name + " needs " + key + " (here or in [claim.select])");
  const Workload* workload = draft.workload ? find_workload(draft) : nullptr;
  const ModeDecl* mode = workload != nullptr ? find_mode(draft, *workload, place) : nullptr;
  if (mode == nullptr) return {};
  if (draft.arm) check_arm(draft, *workload, *mode);
  check_metric(draft, *mode, kind);
  if (!good_) {
    (void)with_params({}, draft, *mode);  // for its mistakes
    return {};
  }
  std::vector<ClaimSide> sides = with_params(
      {workload->name, mode->name, draft.arm->text, draft.case_name->text, draft.metric->text, {}}, draft, *mode);
  for (ClaimSide& side : sides)
    if (!good_ || !fill_case(side, draft.case_name->place)) return {};
  return sides;
}

}  // namespace benchctl
