#include "controller/claims/claim_reader.h"

#include <algorithm>
#include <limits>

#include "controller/claims/side_reader.h"
#include "controller/toml/table_reader.h"
#include "lib/files.h"
#include "lib/json.h"
#include "lib/text.h"

namespace benchctl {
namespace {

using Kind = toml::Node::Kind;

constexpr int64_t kFileBytes = 1 << 20;
constexpr size_t kClaims = 500;
constexpr double kLargest = 1e15;

bool valid_claim_id(std::string_view id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  });
}

void read_sources(TableReader& top, Findings& findings, ClaimFile& file) {
  const toml::Node* sources = top.table("source");
  if (sources == nullptr) {
    if (!top.has("source")) findings.error(top.place(), "the claims need [source.NAME]: where they come from");
    return;
  }
  for (const auto& [key, node] : sources->members) {
    const std::string name = "[source." + sanitize(key, 64) + "]";
    if (node.kind != Kind::kTable) {
      findings.error(node.place, name + " must be a table, not " + toml::kind_name(node.kind));
      continue;
    }
    TableReader table(node, name, findings);
    ClaimSource source;
    table.text("title", source.title, 200);
    if (!table.has("title")) table.missing("title", "the document's");
    table.text("environment", source.environment, 400);
    if (!table.has("environment"))
      table.missing("environment", "what its figures were measured on, or that it does not say");
    table.refuse_unknown();
    file.sources.emplace(key, std::move(source));
  }
}

// One [[claim]].
class ClaimEntry {
 public:
  ClaimEntry(const toml::Node& node, const std::vector<Workload>& workloads, Findings& findings)
      : node_(node), table_(node, "[[claim]]", findings), sides_(workloads, findings), findings_(findings) {}

  Claim read(const ClaimFile& file) {
    read_head(file);
    read_regime();
    if (table_.has("not_tested")) {
      table_.text("not_tested", claim_.not_tested, 400);
      for (const char* key : {"kind", "value", "holds_if", "select", "of", "to"})
        if (table_.has(key)) table_.wrong(key, "and not_tested exclude each other");
    } else {
      read_test();
    }
    table_.refuse_unknown();
    return std::move(claim_);
  }

 private:
  void read_head(const ClaimFile& file) {
    table_.text("id", claim_.id, 80);
    if (!table_.has("id")) table_.missing("id", "a name of its own, such as api.batch_insert");
    if (!claim_.id.empty() && !valid_claim_id(claim_.id))
      table_.wrong("id", "must be a-z, 0-9, . _ and - only, not " + quoted(claim_.id));
    for (const Claim& other : file.claims)
      if (!claim_.id.empty() && other.id == claim_.id) table_.wrong("id", "names " + quoted(claim_.id) + " again");
    need_text("source", claim_.source, 64, "the key of a [source.NAME]");
    need_text("statement", claim_.statement, 400, "what is said");
    need_text("published", claim_.published, 80, "the figure as the document has it");
    if (claim_.source.empty() || file.sources.count(claim_.source) > 0) return;
    std::vector<std::string> names;
    for (const auto& [name, source] : file.sources) names.push_back(name);
    table_.wrong("source", "is " + quoted(claim_.source) + ", which is no [source.NAME]" + meant(claim_.source, names));
  }

  void need_text(const char* key, std::string& out, size_t max, const char* what) {
    table_.text(key, out, max);
    if (!table_.has(key)) table_.missing(key, what);
  }

  void read_regime() {
    const toml::Node* node = table_.table("regime");
    if (node == nullptr) {
      if (!table_.has("regime")) table_.missing("regime", "where it should hold: regime = { words = \"...\" }");
      return;
    }
    TableReader regime(*node, "regime of [[claim]]", findings_);
    regime.text("words", claim_.regime.words, 300);
    if (!regime.has("words")) regime.missing("words", "where it should hold");
    regime.texts("filesystem", claim_.regime.filesystem, 16);
    regime.choice("arch", claim_.regime.arch, {"x86_64", "aarch64"});
    regime.integer("cpus", claim_.regime.cpus, 1, 4096);
    regime.refuse_unknown();
  }

  void read_test() {
    table_.choice("kind", claim_.kind, {"ratio", "value", "count", "equality"});
    if (!table_.has("kind")) table_.missing("kind", "ratio, value, count or equality; or not_tested = \"why\"");
    read_bound();
    if (const toml::Node* shared = table_.table("select")) sides_.share(*shared);
    const toml::Node* of = table_.table("of");
    const toml::Node* to = table_.table("to");
    if (claim_.kind.empty()) return;
    const bool two = claim_.kind == "ratio" || claim_.kind == "equality";
    if (two && to == nullptr && !table_.has("to")) table_.missing("to", "the side that [claim.of] is held against");
    if (!two && to != nullptr) table_.wrong("to", "belongs to ratio and equality; a " + claim_.kind + " has one side");
    claim_.of = sides_.read(of, "[claim.of]", claim_.kind, node_.place);
    if (two && to != nullptr) claim_.to = sides_.read(to, "[claim.to]", claim_.kind, node_.place);
    check_sides(two);
  }

  void read_bound() {
    const toml::Node* node = table_.table("holds_if");
    if (claim_.kind == "equality") {
      for (const char* key : {"holds_if", "value"})
        if (table_.has(key)) table_.wrong(key, "does not belong to an equality");
      return;
    }
    double value = 0;
    table_.number("value", value, -kLargest, kLargest);
    if (!table_.has("value")) table_.missing("value", "the published figure as a number, on the scale of holds_if");
    if (node == nullptr) {
      if (!table_.has("holds_if")) table_.missing("holds_if", "holds_if = { min = 1.5, max = 2.5 }, or one of them");
      return;
    }
    TableReader bound(*node, "holds_if of [[claim]]", findings_);
    const double least = claim_.kind == "ratio" ? std::numeric_limits<double>::min() : -kLargest;
    auto edge = [&](const char* key, std::optional<double>& out) {
      if (bound.has(key)) bound.number(key, out.emplace(0), least, kLargest);
    };
    edge("min", claim_.min);
    edge("max", claim_.max);
    bound.refuse_unknown();
    if (!claim_.min && !claim_.max) return bound.missing("min", "or max, or both");
    if (claim_.min && claim_.max && *claim_.min > *claim_.max) return bound.wrong("max", "is below min");
    // A figure that its own bound refuses is a slip: a ratio written the wrong way round, a percentage for a share.
    if ((claim_.min && value < *claim_.min) || (claim_.max && value > *claim_.max))
      table_.wrong("value", "is " + Json(value).dump() + ", which lies outside of its own holds_if");
  }

  void check_sides(bool two) {
    if (claim_.of.size() > 1 && claim_.kind != "ratio")
      table_.wrong("kind", "is " + claim_.kind + ", and lists of parameters belong to a ratio: their geometric mean");
    if (!two || claim_.of.empty() || claim_.to.empty()) return;
    if (claim_.of.size() != claim_.to.size())
      return table_.wrong("to", "has " + std::to_string(claim_.to.size()) + " combinations of its parameters and of " +
                                    std::to_string(claim_.of.size()) + "; they must be pairs");
    auto as_tuple = [](const ClaimSide& side) {
      return std::tie(side.workload, side.mode, side.arm, side.case_name, side.metric, side.params);
    };
    for (size_t i = 0; i < claim_.of.size(); ++i)
      if (as_tuple(claim_.of[i]) == as_tuple(claim_.to[i])) return table_.wrong("to", "is the same side as of");
  }

  const toml::Node& node_;
  TableReader table_;
  SideReader sides_;
  Findings& findings_;
  Claim claim_;
};

}  // namespace

Result<ClaimFile> parse_claims(std::string_view text, const std::string& file, const std::vector<Workload>& workloads) {
  BENCHCTL_TRY(toml::Node root, toml::parse(text, file));
  Findings findings(file, {});
  TableReader top(root, "", findings);
  ClaimFile read;
  read.file = file;
  int schema = 0;
  top.integer("schema", schema, 1, 1);
  if (!top.has("schema")) findings.error(root.place, "the claims need schema = 1");
  read_sources(top, findings, read);
  const toml::Node* claims = top.get("claim");
  if (claims == nullptr) {
    findings.error(root.place, "the claims need at least one [[claim]]");
  } else if (claims->kind != Kind::kArray) {
    top.wrong("claim", "must be a list of tables: write [[claim]], with two brackets");
  } else if (claims->items.size() > kClaims) {
    top.wrong("claim", "must have at most " + std::to_string(kClaims) + " entries");
  } else {
    for (const toml::Node& item : claims->items) {
      if (item.kind == Kind::kTable) {
        read.claims.push_back(ClaimEntry(item, workloads, findings).read(read));
      } else {
        findings.error(item.place, std::string("[[claim]] must be a table, not ") + toml::kind_name(item.kind));
      }
    }
  }
  top.refuse_unknown();
  if (!findings.ok()) return findings.as_error();
  return read;
}

Result<ClaimFile> load_claims(const std::string& path, const std::string& shown,
                              const std::vector<Workload>& workloads) {
  auto text = read_file(path, kFileBytes);
  if (!text) return Error{ErrorKind::kUsage, text.error().message};
  return parse_claims(*text, sanitize(shown, 200), workloads);
}

}  // namespace benchctl
