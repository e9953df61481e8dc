// A TOML document as a plain tree with the place of every key and value, so that readers can report all mistakes of a
// file with line and column. toml++ stays in toml.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/result.h"

namespace benchctl::toml {

struct Place {
  int line = 0;  // from 1; 0: not from a file (--set)
  int column = 0;
};

struct Node {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kDate, kArray, kTable };
  // Defined in toml.cc, where the type is complete: clang 14 looks into members too early otherwise.
  Node();
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  Kind kind = Kind::kTable;
  Place place;      // of the value
  Place key_place;  // of the key that names it, in a table
  std::string text;
  int64_t integer = 0;
  double number = 0;  // also set for integers
  bool boolean = false;
  std::vector<Node> items;                            // array
  std::vector<std::pair<std::string, Node>> members;  // table, in file order

  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
};

const char* kind_name(Node::Kind kind);  // "a text", "an integer", …

// Caps are checked before the parser sees the text (a 20,000-part dotted key crashes toml++ 3.3): 1 MiB, 64 KiB a line,
// 64 nested brackets, 64 parts of a key, those of the inline tables around it counted too. The error carries
// `file:line:column: `.
Result<Node> parse(std::string_view text, const std::string& file);

}  // namespace benchctl::toml
