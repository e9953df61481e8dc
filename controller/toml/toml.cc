#include "controller/toml/toml.h"

#include <toml++/toml.h>
#include <algorithm>

#include "lib/text.h"

namespace benchctl::toml {
namespace {

constexpr size_t kBytes = 1 << 20;
constexpr size_t kLine = 64 << 10;
constexpr int kDepth = 256;

// Counts what could exhaust the parser's stack, per line: dots of a key and opening brackets. Coarse on purpose: texts
// count too, so the bounds are far above what a person writes.
Status check_caps(std::string_view text, const std::string& file) {
  if (text.size() > kBytes)
    return Error{ErrorKind::kUsage, file + ": larger than the limit of " + format_bytes(static_cast<int64_t>(kBytes))};
  int line = 1, dots = 0, depth = 0;
  size_t length = 0;
  for (char c : text) {
    if (c == '\n') {
      ++line;
      length = 0;
      dots = 0;
      continue;
    }
    dots += c == '.' ? 1 : 0;
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth < 0) depth = 0;
    if (++length > kLine || dots > 4096 || depth > kDepth)
      return Error{ErrorKind::kUsage,
                   file + ":" + std::to_string(line) + ":1: this line is longer or nested deeper than any plan needs"};
    if (dots > kDepth && length < static_cast<size_t>(dots) * 8)
      return Error{ErrorKind::kUsage,
                   file + ":" + std::to_string(line) + ":1: a key of more than " + std::to_string(kDepth) + " parts"};
  }
  return {};
}

Place place_of(const ::toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

Node convert(const ::toml::node& from) {
  Node node;
  node.place = place_of(from.source());
  switch (from.type()) {
    case ::toml::node_type::string:
      node.kind = Node::Kind::kString;
      node.text = from.as_string()->get();
      break;
    case ::toml::node_type::integer:
      node.kind = Node::Kind::kInteger;
      node.integer = from.as_integer()->get();
      node.number = static_cast<double>(node.integer);
      break;
    case ::toml::node_type::floating_point:
      node.kind = Node::Kind::kFloat;
      node.number = from.as_floating_point()->get();
      break;
    case ::toml::node_type::boolean:
      node.kind = Node::Kind::kBoolean;
      node.boolean = from.as_boolean()->get();
      break;
    case ::toml::node_type::array:
      node.kind = Node::Kind::kArray;
      for (const auto& item : *from.as_array()) node.items.push_back(convert(item));
      break;
    case ::toml::node_type::table: {
      node.kind = Node::Kind::kTable;
      for (const auto& [key, value] : *from.as_table()) {
        Node member = convert(value);
        member.key_place = place_of(key.source());
        node.members.emplace_back(std::string(key.str()), std::move(member));
      }
      // toml++ keeps tables sorted by key; people read files from the top.
      std::stable_sort(node.members.begin(), node.members.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.key_place.line, a.second.key_place.column) <
               std::pair(b.second.key_place.line, b.second.key_place.column);
      });
      break;
    }
    default:
      node.kind = Node::Kind::kDate;
  }
  return node;
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : members)
    if (name == key) return &value;
  return nullptr;
}

Node* Node::find(std::string_view key) {
  return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

const char* kind_name(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::kString:
      return "a text";
    case Node::Kind::kInteger:
      return "an integer";
    case Node::Kind::kFloat:
      return "a number";
    case Node::Kind::kBoolean:
      return "true or false";
    case Node::Kind::kDate:
      return "a date or time";
    case Node::Kind::kArray:
      return "a list";
    case Node::Kind::kTable:
      return "a table";
  }
  return "a value";
}

Result<Node> parse(std::string_view text, const std::string& file) {
  BENCHCTL_CHECK(check_caps(text, file));
  try {
    return convert(::toml::parse(text, file));
  } catch (const ::toml::parse_error& error) {
    Place place = place_of(error.source());
    return Error{ErrorKind::kUsage, file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
                                        ": " + sanitize(error.description(), 300)};
  }
}

}  // namespace benchctl::toml
