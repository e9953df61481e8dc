#include "controller/plan/overrides.h"

#include "lib/text.h"

namespace benchctl {
namespace {

using toml::Node;

constexpr size_t kSets = 100;
constexpr size_t kBytes = 4096;
constexpr size_t kParts = 16;

void move_to(Node& node, toml::Place place) {
  node.place = node.key_place = place;
  for (Node& item : node.items) move_to(item, place);
  for (auto& [key, member] : node.members) move_to(member, place);
}

Node value_of(const std::string& text, toml::Place place) {
  Node value;
  auto parsed = toml::parse("v = " + text, "");
  // A value with a line feed in it could bring further keys: then it is a text.
  if (parsed && parsed->members.size() == 1 && parsed->members[0].first == "v") {
    value = std::move(parsed->members[0].second);
  } else {
    value.kind = Node::Kind::kString;
    value.text = text;
  }
  move_to(value, place);
  return value;
}

class Setter {
 public:
  Setter(std::vector<std::string_view> path, Node value, Findings& findings)
      : path_(std::move(path)), value_(std::move(value)), findings_(findings) {}

  void walk(Node& node, size_t at) {
    if (at == path_.size()) {
      toml::Place key_place = node.key_place;
      node = value_;
      if (key_place.line > 0) node.key_place = key_place;  // an unknown key is still the file's
      return;
    }
    std::string part(path_[at]);
    if (node.kind == Node::Kind::kArray) return walk_items(node, part, at);
    if (node.kind != Node::Kind::kTable)
      return findings_.error(
          value_.place, "there is nothing below " + quoted(path_[at - 1]) + ", it is " + toml::kind_name(node.kind));
    Node* member = node.find(part);
    if (member == nullptr) {
      Node fresh;
      fresh.place = fresh.key_place = value_.place;
      node.members.emplace_back(part, std::move(fresh));
      member = &node.members.back().second;
    }
    walk(*member, at + 1);
  }

 private:
  void walk_items(Node& node, const std::string& part, size_t at) {
    if (part == "*") {
      for (Node& item : node.items) walk(item, at + 1);
      return;
    }
    auto index = parse_int(part);
    if (!index || *index < 0 || static_cast<size_t>(*index) >= node.items.size())
      return findings_.error(value_.place,
                             quoted(path_[at - 1]) + " is a list of " + std::to_string(node.items.size()) +
                                 ": name its entry by a number from 0, or * for all, not " + quoted(part));
    walk(node.items[static_cast<size_t>(*index)], at + 1);
  }

  std::vector<std::string_view> path_;
  Node value_;
  Findings& findings_;
};

}  // namespace

void apply_sets(Node& root, const std::vector<std::string>& sets, Findings& findings) {
  if (sets.size() > kSets) return findings.error({}, "more than " + std::to_string(kSets) + " overrides by --set");
  for (size_t i = 0; i < sets.size(); ++i) {
    toml::Place place{0, static_cast<int>(i) + 1};
    size_t equals = sets[i].find('=');
    if (equals == std::string::npos || sets[i].size() > kBytes) {
      findings.error(place,
                     "must be PATH=VALUE of at most " + std::to_string(kBytes) + " bytes, such as fleet.small.count=3");
      continue;
    }
    auto path = split(std::string_view(sets[i]).substr(0, equals), '.');
    bool empty = false;
    for (std::string_view part : path) empty = empty || part.empty();
    if (empty || path.size() > kParts) {
      findings.error(place, "the path must be at most " + std::to_string(kParts) + " keys joined by dots");
      continue;
    }
    Setter(std::move(path), value_of(sets[i].substr(equals + 1), place), findings).walk(root, 0);
  }
}

}  // namespace benchctl
