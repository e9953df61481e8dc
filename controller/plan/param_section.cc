#include <algorithm>

#include "controller/plan/param_value.h"
#include "controller/plan/sections.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;
using Type = ParamDecl::Type;

constexpr size_t kValues = 64;

std::string canonical_duration(int64_t ms) {
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + "s" : std::to_string(ms) + "ms";
}

std::string show(const ParamDecl& decl, int64_t value) {
  return decl.type == Type::kDuration ? canonical_duration(value) : std::to_string(value);
}

// What the value looks like as a text; nothing when its TOML type is none that `decl` takes.
std::optional<std::string> text_of(const ParamDecl& decl, const toml::Node& node) {
  if (node.kind == Kind::kString && (decl.type == Type::kText || decl.type == Type::kDuration || node.text == "auto"))
    return node.text;
  if (node.kind == Kind::kInteger && (decl.type == Type::kInteger || decl.type == Type::kText))
    return std::to_string(node.integer);
  if (node.kind == Kind::kBoolean && (decl.type == Type::kBoolean || decl.type == Type::kText))
    return node.boolean ? "true" : "false";
  return std::nullopt;
}

const char* wanted(const ParamDecl& decl) {
  switch (decl.type) {
    case Type::kInteger:
      return "an integer";
    case Type::kDuration:
      return "a time with its unit, such as \"5s\"";
    case Type::kText:
      return "a text";
    case Type::kBoolean:
      return "true or false";
  }
  return "a value";
}

using Checked = ParamValue;

Checked refused(std::string why) {
  return {"", std::move(why), ""};
}

Checked check_number(const ParamDecl& decl, int64_t value) {
  if ((decl.min && value < *decl.min) || (decl.max && value > *decl.max)) {
    std::string bounds = decl.min && decl.max ? "from " + show(decl, *decl.min) + " to " + show(decl, *decl.max)
                         : decl.min           ? "at least " + show(decl, *decl.min)
                                              : "at most " + show(decl, *decl.max);
    return refused("must be " + bounds + ", not " + show(decl, value));
  }
  Checked checked{show(decl, value), "", ""};
  if (decl.warn_below && value < *decl.warn_below)
    checked.doubt = "is " + show(decl, value) + ", below " + show(decl, *decl.warn_below) +
                    (decl.warn_reason.empty() ? "" : ": " + sanitize(decl.warn_reason, 200));
  return checked;
}

Checked check_value(const ParamDecl& decl, const std::string& text) {
  if (text == "auto" && decl.allow_auto) return {text, "", ""};
  const std::string expected = std::string("must be ") + wanted(decl) + (decl.allow_auto ? " or \"auto\"" : "");
  switch (decl.type) {
    case Type::kInteger:
      if (auto value = parse_int(text)) return check_number(decl, *value);
      return refused(expected + ", not " + quoted(text));
    case Type::kDuration:
      if (auto value = parse_duration_ms(text)) return check_number(decl, *value);
      return refused(expected + ", not " + quoted(text));
    case Type::kBoolean:
      return {text, "", ""};
    case Type::kText:
      if (!decl.choices.empty() && std::find(decl.choices.begin(), decl.choices.end(), text) == decl.choices.end())
        return refused("must be one of " + listed(decl.choices) + ", not " + quoted(text) + meant(text, decl.choices));
      if (text.size() > 200 || sanitize(text) != text) return refused("must be at most 200 printable bytes");
      return {text, "", ""};
  }
  return refused(expected);
}

// The nodes of one parameter: itself, or the items of its list. Reports a list that cannot be one.
std::vector<const toml::Node*> values_of(TableReader& table, const std::string& name, const toml::Node& node,
                                         bool list) {
  if (node.kind != Kind::kArray) return {&node};
  std::vector<const toml::Node*> values;
  if (!list) {
    table.wrong(name, "takes one value, not a list");
  } else if (node.items.empty() || node.items.size() > kValues) {
    table.wrong(name,
                "must list 1 to " + std::to_string(kValues) + " values, not " + std::to_string(node.items.size()));
  } else {
    for (const toml::Node& item : node.items) values.push_back(&item);
  }
  return values;
}

void add_value(const std::string& label, const toml::Node& node, std::string value, std::vector<std::string>& values,
               Findings& findings) {
  if (std::find(values.begin(), values.end(), value) != values.end())
    findings.error(node.place, label + " lists " + quoted(value) + " twice");
  values.push_back(std::move(value));
}

void read_param(TableReader& table, const ParamDecl& decl, Findings& findings, std::vector<std::string>& values) {
  const toml::Node* node = table.get(decl.name);
  if (node == nullptr) return;
  const std::string label = decl.name + " in " + table.name();
  std::vector<std::string> read;
  for (const toml::Node* item : values_of(table, decl.name, *node, decl.list)) {
    Checked checked = param_value(decl, *item);
    if (!checked.wrong.empty()) {
      findings.error(item->place, label + " " + checked.wrong);
      continue;
    }
    if (!checked.doubt.empty()) findings.warn(item->place, label + " " + checked.doubt);
    add_value(label, *item, checked.value, read, findings);
  }
  if (read.size() > 1 && std::find(read.begin(), read.end(), "auto") != read.end())
    table.wrong(decl.name, "must be \"auto\" alone, or a list of values");
  if (!read.empty()) values = std::move(read);
}

std::vector<std::string> defaults_of(const ParamDecl& decl) {
  std::vector<std::string> values;
  for (std::string_view part :
       decl.list ? split(decl.default_value, ',') : std::vector<std::string_view>{decl.default_value}) {
    Checked checked = check_value(decl, std::string(trim(part)));
    values.push_back(checked.wrong.empty() ? checked.value : std::string(trim(part)));
  }
  return values;
}

}  // namespace

ParamValue param_value(const ParamDecl& decl, const toml::Node& node) {
  if (auto text = text_of(decl, node)) return check_value(decl, *text);
  return refused(std::string("must be ") + wanted(decl) + (decl.allow_auto ? " or \"auto\"" : "") + ", not " +
                 toml::kind_name(node.kind));
}

void read_params(const toml::Node* node, const ModeDecl& mode, PlanContext& context, Suite& suite) {
  for (const ParamDecl& decl : mode.params) suite.params[decl.name] = defaults_of(decl);
  if (node == nullptr) return;
  TableReader table(*node, "[suite.params]", context.findings);
  for (const ParamDecl& decl : mode.params) read_param(table, decl, context.findings, suite.params[decl.name]);
  table.refuse_unknown();
}

void read_free_params(const toml::Node* node, PlanContext& context, Suite& suite) {
  if (node == nullptr) return;
  TableReader table(*node, "[suite.params]", context.findings);
  if (node->members.size() > 32)
    return context.findings.error(node->place, "[suite.params] must have at most 32 parameters");
  for (const auto& [name, value] : node->members) {
    if (!valid_name(name)) {
      context.findings.error(value.place,
                             "parameter " + quoted(name) + " must be named with letters, digits, . _ and - only");
      continue;
    }
    std::vector<std::string> read;
    for (const toml::Node* item : values_of(table, name, value, true)) {
      ParamDecl decl;
      decl.type = item->kind == Kind::kInteger   ? Type::kInteger
                  : item->kind == Kind::kBoolean ? Type::kBoolean
                                                 : Type::kText;
      auto text = text_of(decl, *item);
      Checked checked = text ? check_value(decl, *text) : refused("must be texts, integers or true and false");
      if (checked.wrong.empty()) {
        add_value(name + " in [suite.params]", *item, checked.value, read, context.findings);
      } else {
        context.findings.error(item->place, name + " in [suite.params] " + checked.wrong);
      }
    }
    suite.params[name] = std::move(read);
  }
}

}  // namespace benchctl
