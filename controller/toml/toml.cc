#include "controller/toml/toml.h"

#include <algorithm>
#include <exception>
#include <stdexcept>

// toml++ 3.3 asserts on some wrong texts ("[[[") instead of refusing them, and where NDEBUG is set it tells the
// compiler that they cannot be, which is undefined behaviour. Both become an exception, which parse() turns into an
// error.
namespace benchctl::toml {
[[noreturn]] static void refuse_by_assertion() {
  throw std::runtime_error("this is no TOML");
}
}  // namespace benchctl::toml
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::benchctl::toml::refuse_by_assertion())
#include <toml++/toml.h>

#include "lib/text.h"

namespace benchctl::toml {
namespace {

constexpr size_t kBytes = 1 << 20;
constexpr size_t kLine = 64 << 10;
constexpr size_t kDepth = 64;
constexpr size_t kParts = 64;

// Walks over the text as a TOML lexer would (comments, four kinds of strings) and counts what could exhaust the
// parser's stack: open brackets, and dots of keys. Wrong only on texts that the parser refuses at that very place.
// Refuses, too, what lets toml++ 3.3 ask whether a letter is white space: its answer for U+00A1..U+049A is undefined.
class CapScanner {
 public:
  CapScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Status scan() {
    if (text_.size() > kBytes)
      return Error{ErrorKind::kUsage,
                   file_ + ": larger than the limit of " + format_bytes(static_cast<int64_t>(kBytes))};
    if (starts("\xEF\xBB\xBF")) at_ += 3;  // byte order mark
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (!is_ascii(c)) return refuse("only comments and texts in quotes may hold this character");
      if (c == '[' && column_ == 1 && dots_.size() == 1 && !names_table())
        return refuse("a table's name must follow here");
      if (c == '#') {
        skip_comment();
      } else if (c == '"' || c == '\'') {
        if (!skip_string(c)) return refuse("a backslash in a text must have one of \" \\ b f n r t u U behind it");
      } else {
        count(c);
        step();
      }
      if (column_ > kLine)
        return refuse("this line is longer than the limit of " + format_bytes(static_cast<int64_t>(kLine)));
      if (dots_.size() > kDepth) return refuse("brackets nested deeper than " + std::to_string(kDepth));
      if (sum_ > kParts) return refuse("a key of more than " + std::to_string(kParts) + " parts");
    }
    return {};
  }

 private:
  Status refuse(const std::string& what) const {
    return Error{ErrorKind::kUsage, file_ + ":" + std::to_string(line_) + ":" + std::to_string(column_) + ": " + what};
  }

  void step() {
    if (text_[at_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }

  void count(char c) {
    if (c == '.') {
      ++dots_.back();
      ++sum_;
    } else if (c == '[' || c == '{') {
      dots_.push_back(0);
    } else if (c == ']' || c == '}') {
      sum_ -= dots_.back();
      dots_.back() = 0;
      if (dots_.size() > 1) dots_.pop_back();
    } else if (c == ',' || (c == '\n' && dots_.size() == 1)) {
      // The next key or value. Dots of keys that enclose it stay counted, for they nest.
      sum_ -= dots_.back();
      dots_.back() = 0;
    }
  }

  // Whether a name follows the one or two brackets here.
  bool names_table() const {
    size_t name = text_.find_first_not_of(" \t", at_ + (text_.substr(at_, 2) == "[[" ? 2 : 1));
    if (name == std::string_view::npos) return false;
    char c = text_[name];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '"' || c == '\'';
  }

  void skip_comment() {
    while (at_ < text_.size() && text_[at_] != '\n') step();
  }

  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }

  static bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

  // False at a backslash that continues a line or escapes no ASCII letter.
  bool skip_string(char quote) {
    const std::string triple(3, quote);
    const bool multi_line = starts(triple);
    for (size_t i = 0; i < (multi_line ? 3 : 1); ++i) step();
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        step();
        if (at_ == text_.size()) return true;
        if (!is_ascii(text_[at_]) || std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
          return false;
        step();
      } else if (multi_line ? starts(triple) : text_[at_] == quote) {
        for (size_t i = 0; i < (multi_line ? 3 : 1); ++i) step();
        // Up to two quotes may stand before the closing three.
        for (int i = 0; multi_line && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) step();
        return true;
      } else if (!multi_line && text_[at_] == '\n') {
        return true;
      } else {
        step();
      }
    }
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  size_t at_ = 0;
  int line_ = 1;
  size_t column_ = 1;
  std::vector<size_t> dots_{0};  // since the last separator, one count an open bracket
  size_t sum_ = 0;               // of dots_
};

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

Node::Node() = default;
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

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
  BENCHCTL_CHECK(CapScanner(text, file).scan());
  try {
    return convert(::toml::parse(text, file));
  } catch (const ::toml::parse_error& error) {
    Place place = place_of(error.source());
    return Error{ErrorKind::kUsage, file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
                                        ": " + sanitize(error.description(), 300)};
  } catch (const std::exception& error) {
    return Error{ErrorKind::kUsage, file + ": " + sanitize(error.what(), 300)};
  }
}

}  // namespace benchctl::toml
