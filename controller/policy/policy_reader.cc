#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "controller/plan/sections.h"
#include "controller/policy/policy.h"
#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr int64_t kPolicyBytes = 64 << 10;
constexpr int64_t kLongestTtlMs = int64_t{7} * 24 * 3'600'000;

// A list that may be empty: then nothing is allowed.
void read_list(TableReader& table, const std::string& key, std::optional<std::vector<std::string>>& out) {
  const toml::Node* value = table.get(key);
  if (value == nullptr) return;
  out.emplace();
  if (value->kind == toml::Node::Kind::kArray && value->items.empty()) return;
  table.texts(key, *out, 256);
}

Bounds read_bounds(const toml::Node& node, const std::string& name, Findings& findings) {
  TableReader table(node, name, findings);
  Bounds bounds;
  read_list(table, "providers", bounds.providers);
  read_list(table, "regions", bounds.regions);
  read_list(table, "hosts", bounds.hosts);
  for (const std::string& provider : bounds.providers.value_or(std::vector<std::string>()))
    if (const auto& known = known_providers(); std::find(known.begin(), known.end(), provider) == known.end())
      table.wrong("providers", "names " + quoted(provider) + ", which is no provider" + meant(provider, known));
  if (table.has("max_count")) table.integer("max_count", bounds.max_count.emplace(0), 0, 1000);
  if (table.has("max_ttl")) table.duration("max_ttl", bounds.max_ttl_ms.emplace(0), 60'000, kLongestTtlMs);
  read_cost(table, bounds.max_cost, bounds.max_cost_currency);
  table.refuse_unknown();
  for (const auto& [key, value] : node.members) bounds.lines[key] = value.place.line;
  return bounds;
}

}  // namespace

Result<Policy> read_policy(const std::string& text, const std::string& file) {
  BENCHCTL_TRY(toml::Node root, toml::parse(text, file));
  Findings findings(file, {});
  TableReader top(root, "", findings);
  Policy policy;
  policy.file = file;
  int schema = 0;
  top.integer("schema", schema, 1, 1);
  if (!top.has("schema")) findings.error(root.place, "the policy needs schema = 1");
  if (const toml::Node* allow = top.table("allow")) policy.allow = read_bounds(*allow, "[allow]", findings);
  if (const toml::Node* untrusted = top.table("untrusted"))
    policy.untrusted = read_bounds(*untrusted, "[untrusted]", findings);
  top.refuse_unknown();
  if (!findings.ok()) return findings.as_error();
  return policy;
}

Result<Policy> load_policy(const std::string& path, bool must_exist) {
  struct stat st {};
  const std::string shown = sanitize(path, 400);
  if (stat(path.c_str(), &st) != 0) {
    if (errno == ENOENT && !must_exist) return Policy{};
    return errno_error("policy " + shown, ErrorKind::kUsage);
  }
  if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022) != 0)
    return Error{
        ErrorKind::kUsage,
        "policy " + shown + ": others can change it; it must belong to you or root: chmod go-w " + shell_quote(shown)};
  BENCHCTL_TRY(std::string text, read_file(path, kPolicyBytes));
  return read_policy(text, shown);
}

}  // namespace benchctl
