#include "lib/json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace benchctl {
namespace {

const std::string kNoString;
const Json::Array kNoArray;
const Json::Object kNoObject;
const Json kNull;

// Builds our value from parser events and stops at the first cap; nothing of the input is held twice.
class Builder {
 public:
  explicit Builder(const Json::Caps& caps) : caps_(caps) {}
  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) {
    if (value > INT64_MAX) return add(static_cast<double>(value));
    return add(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(size_t) { return open(true); }
  bool end_object() { return close(); }
  bool start_array(size_t) { return open(false); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    // Later look-ups search members in a row: the cap keeps a hostile object from costing its square.
    Level& level = stack_.back();
    if (level.members.size() >= 4096) return fail("an object of more than 4096 members");
    if (!level.names.insert(name).second) return fail("duplicate key \"" + name.substr(0, 100) + "\"");
    level.key = std::move(name);
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) {
    return fail("not valid JSON at byte " + std::to_string(position));
  }
  Json take() { return std::move(root_); }
  const std::string& problem() const { return problem_; }

 private:
  bool fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return false;
  }
  bool add(Json value) {
    if (++values_ > caps_.values) return fail("more than " + std::to_string(caps_.values) + " values");
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (Level& level = stack_.back(); level.is_object) {
      level.members.emplace_back(std::move(level.key), std::move(value));
    } else {
      level.items.push_back(std::move(value));
    }
    return true;
  }
  bool open(bool is_object) {
    if (static_cast<int>(stack_.size()) >= caps_.depth)
      return fail("nested deeper than " + std::to_string(caps_.depth));
    stack_.emplace_back();
    stack_.back().is_object = is_object;
    return true;
  }
  bool close() {
    Level done = std::move(stack_.back());
    stack_.pop_back();
    return add(done.is_object ? Json::object(std::move(done.members)) : Json(std::move(done.items)));
  }

  // A container that is not yet closed.
  struct Level {
    bool is_object = false;
    Json::Object members;
    Json::Array items;
    std::unordered_set<std::string> names;
    std::string key;
  };

  Json::Caps caps_;
  std::vector<Level> stack_;
  Json root_;
  int64_t values_ = 0;
  std::string problem_;
};

nlohmann::ordered_json convert(const Json& json) {
  if (json.is_bool()) return json.as_bool();
  if (json.is_int()) return json.as_int();
  if (json.is_number()) return std::isfinite(json.as_double()) ? nlohmann::ordered_json(json.as_double()) : nullptr;
  if (json.is_string()) return json.as_string();
  if (json.is_array()) {
    auto array = nlohmann::ordered_json::array();
    for (const Json& item : json.as_array()) array.push_back(convert(item));
    return array;
  }
  if (json.is_object()) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [key, item] : json.as_object()) object[key] = convert(item);
    return object;
  }
  return nullptr;
}

std::string dump_with(const Json& json, int indent) {
  return convert(json).dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

Json::Json(const std::vector<std::string>& values) {
  Array array;
  for (const std::string& value : values) array.emplace_back(value);
  value_ = std::move(array);
}

double Json::as_double(double otherwise) const {
  if (is_int()) return static_cast<double>(as_int());
  return is_number() ? std::get<double>(value_) : otherwise;
}
const std::string& Json::as_string() const {
  return is_string() ? std::get<std::string>(value_) : kNoString;
}
const Json::Array& Json::as_array() const {
  return is_array() ? std::get<Array>(value_) : kNoArray;
}
const Json::Object& Json::as_object() const {
  return is_object() ? std::get<Object>(value_) : kNoObject;
}

std::vector<std::string> Json::as_strings() const {
  std::vector<std::string> texts;
  for (const Json& item : as_array())
    if (item.is_string()) texts.push_back(item.as_string());
  return texts;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : as_object())
    if (name == key) return &value;
  return nullptr;
}

const Json& Json::operator[](std::string_view key) const {
  const Json* member = find(key);
  return member != nullptr ? *member : kNull;
}

void Json::set(std::string key, Json value) {
  if (!is_object()) value_ = Object{};
  for (auto& [name, old] : std::get<Object>(value_)) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  std::get<Object>(value_).emplace_back(std::move(key), std::move(value));
}

void Json::push(Json value) {
  if (!is_array()) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
}

Result<int64_t> Json::need_int(std::string_view key) const {
  const Json* member = find(key);
  if (member == nullptr || !member->is_int())
    return Error{ErrorKind::kInternal, "\"" + std::string(key) + "\" must be an integer"};
  return member->as_int();
}

Result<std::string> Json::need_string(std::string_view key) const {
  const Json* member = find(key);
  if (member == nullptr || !member->is_string())
    return Error{ErrorKind::kInternal, "\"" + std::string(key) + "\" must be a text"};
  return member->as_string();
}

std::string Json::dump() const {
  return dump_with(*this, -1);
}
std::string Json::dump_pretty() const {
  return dump_with(*this, 2) + "\n";
}

Result<Json> Json::parse(std::string_view text, const Caps& caps) {
  if (static_cast<int64_t>(text.size()) > caps.bytes)
    return Error{ErrorKind::kInternal,
                 "JSON of " + std::to_string(text.size()) + " bytes, the limit is " + std::to_string(caps.bytes)};
  Builder builder(caps);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    return Error{ErrorKind::kInternal, builder.problem().empty() ? "not valid JSON" : builder.problem()};
  return builder.take();
}

}  // namespace benchctl
