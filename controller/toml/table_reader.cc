#include "controller/toml/table_reader.h"

#include <algorithm>

#include "lib/json.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Whether a terminal or a report can show it as it is: such texts are printed in many places.
bool printable(const std::string& text) {
  return sanitize(text, text.size()) == text;
}

constexpr char kNotPrintable[] = "holds a control character, or bytes that are no UTF-8";

}  // namespace

using Kind = toml::Node::Kind;

const toml::Node* TableReader::get(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return node_.find(key);
}

toml::Place TableReader::place(std::string_view key) const {
  const toml::Node* value = node_.find(key);
  return value != nullptr ? value->place : node_.place;
}

void TableReader::wrong(std::string_view key, const std::string& why) {
  findings_.error(place(key), std::string(key) + (name_.empty() ? " " : " in " + name_ + " ") + why);
}

void TableReader::missing(std::string_view key, const std::string& what) {
  findings_.error(node_.place, (name_.empty() ? "the plan" : name_) + " needs " + std::string(key) + ": " + what);
}

const toml::Node* TableReader::typed(std::string_view key, Kind kind) {
  const toml::Node* value = get(key);
  if (value == nullptr || value->kind == kind) return value;
  wrong(key, std::string("must be ") + toml::kind_name(kind) + ", not " + toml::kind_name(value->kind));
  return nullptr;
}

void TableReader::text(std::string_view key, std::string& out, size_t max_bytes) {
  const toml::Node* value = typed(key, Kind::kString);
  if (value == nullptr) return;
  if (value->text.empty()) return wrong(key, "must not be empty");
  if (value->text.size() > max_bytes)
    return wrong(
        key, "must have at most " + std::to_string(max_bytes) + " bytes, not " + std::to_string(value->text.size()));
  if (!printable(value->text)) return wrong(key, kNotPrintable);
  out = value->text;
}

void TableReader::boolean(std::string_view key, bool& out) {
  if (const toml::Node* value = typed(key, Kind::kBoolean)) out = value->boolean;
}

void TableReader::integer(std::string_view key, uint64_t& out, int64_t min, int64_t max) {
  const toml::Node* value = typed(key, Kind::kInteger);
  if (value == nullptr) return;
  if (value->integer < min || value->integer > max)
    return wrong(key, "must be from " + std::to_string(min) + " to " + std::to_string(max) + ", not " +
                          std::to_string(value->integer));
  out = static_cast<uint64_t>(value->integer);
}

void TableReader::integer(std::string_view key, int& out, int64_t min, int64_t max) {
  uint64_t value = static_cast<uint64_t>(out);
  integer(key, value, min, max);
  out = static_cast<int>(value);
}

void TableReader::number(std::string_view key, double& out, double min, double max) {
  const toml::Node* value = get(key);
  if (value == nullptr) return;
  if (value->kind != Kind::kFloat && value->kind != Kind::kInteger)
    return wrong(key, std::string("must be a number, not ") + toml::kind_name(value->kind));
  // Written so that NaN is refused too.
  if (!(value->number >= min && value->number <= max))
    return wrong(
        key, "must be from " + Json(min).dump() + " to " + Json(max).dump() + ", not " + Json(value->number).dump());
  out = value->number;
}

void TableReader::duration(std::string_view key, int64_t& out_ms, int64_t min_ms, int64_t max_ms) {
  const toml::Node* value = get(key);
  if (value == nullptr) return;
  auto ms = value->kind == Kind::kString ? parse_duration_ms(value->text) : std::nullopt;
  if (!ms)
    return wrong(key, "must be a time with its unit, such as \"90s\", \"20m\" or \"3h\"" +
                          (value->kind == Kind::kString ? ", not " + quoted(value->text) : ""));
  if (*ms < min_ms || *ms > max_ms)
    return wrong(key, "must be from " + format_seconds(static_cast<double>(min_ms) / 1000) + " to " +
                          format_seconds(static_cast<double>(max_ms) / 1000) + ", not " + quoted(value->text));
  out_ms = *ms;
}

void TableReader::bytes(std::string_view key, int64_t& out, int64_t min, int64_t max) {
  const toml::Node* value = get(key);
  if (value == nullptr) return;
  std::optional<int64_t> size;
  if (value->kind == Kind::kString) size = parse_bytes(value->text);
  if (value->kind == Kind::kInteger) size = value->integer;
  if (!size) return wrong(key, "must be a size, such as \"512MiB\" or \"2GiB\"");
  if (*size < min || *size > max) return wrong(key, "must be from " + format_bytes(min) + " to " + format_bytes(max));
  out = *size;
}

void TableReader::percent(std::string_view key, double& share) {
  const toml::Node* value = get(key);
  if (value == nullptr) return;
  std::string_view text = value->kind == Kind::kString ? std::string_view(value->text) : "";
  auto number = text.ends_with("%") ? parse_double(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!number || *number < 0 || *number > 100) return wrong(key, "must be a percentage from \"0%\" to \"100%\"");
  share = *number / 100;
}

void TableReader::choice(std::string_view key, std::string& out, const std::vector<std::string>& choices) {
  const toml::Node* value = typed(key, Kind::kString);
  if (value == nullptr) return;
  if (std::find(choices.begin(), choices.end(), value->text) == choices.end())
    return wrong(key,
                 "must be one of " + listed(choices) + ", not " + quoted(value->text) + meant(value->text, choices));
  out = value->text;
}

bool TableReader::read_texts(std::string_view key, std::vector<std::string>& out, size_t max_count, bool distinct) {
  const toml::Node* value = get(key);
  if (value == nullptr) return false;
  std::vector<const toml::Node*> items;
  if (value->kind == Kind::kString)
    items.push_back(value);
  else if (value->kind == Kind::kArray)
    for (const toml::Node& item : value->items) items.push_back(&item);
  else {
    wrong(key, std::string("must be a list of texts, not ") + toml::kind_name(value->kind));
    return false;
  }
  std::string label = std::string(key) + (name_.empty() ? "" : " in " + name_);
  if (items.empty()) wrong(key, "must not be empty");
  if (items.size() > max_count) {
    wrong(key, "must have at most " + std::to_string(max_count) + " entries, not " + std::to_string(items.size()));
    return false;
  }
  std::vector<std::string> read;
  bool good = !items.empty();
  auto refuse = [&](const toml::Node& item, const std::string& why) {
    findings_.error(item.place, label + " " + why);
    good = false;
  };
  for (const toml::Node* item : items) {
    if (item->kind != Kind::kString) {
      refuse(*item, std::string("must hold texts only, not ") + toml::kind_name(item->kind));
    } else if (item->text.empty() && distinct) {
      refuse(*item, "holds an empty text");
    } else if (item->text.size() > 4096 || item->text.find('\0') != std::string::npos) {
      refuse(*item, "holds a text longer than 4096 bytes or with a NUL");
    } else if (distinct && !printable(item->text)) {
      refuse(*item, kNotPrintable);
    } else if (distinct && std::find(read.begin(), read.end(), item->text) != read.end()) {
      refuse(*item, "names " + quoted(item->text) + " twice");
    } else {
      read.push_back(item->text);
    }
  }
  if (good) out = std::move(read);
  return good;
}

void TableReader::texts(std::string_view key, std::vector<std::string>& out, size_t max_count) {
  read_texts(key, out, max_count, true);
}

void TableReader::words(std::string_view key, std::vector<std::string>& out, size_t max_count) {
  read_texts(key, out, max_count, false);
}

const toml::Node* TableReader::table(std::string_view key) {
  return typed(key, Kind::kTable);
}

void TableReader::refuse_unknown() {
  for (const auto& [key, value] : node_.members) {
    if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
    toml::Place at = value.key_place.line > 0 ? value.key_place : value.place;
    std::string hint = findings_.full() ? "" : meant(key, known_);
    findings_.error(at, "unknown key " + quoted(key) + (name_.empty() ? "" : " in " + name_) + hint);
  }
}

}  // namespace benchctl
