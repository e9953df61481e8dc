// A JSON value and its parser, with caps, so that bytes from a machine cannot exhaust us. nlohmann-json stays in
// json.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/result.h"

namespace benchctl {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;  // in order of appearance; keys are unique

  Json() = default;                                              // null
  Json(bool value) : value_(value) {}                            // NOLINT: literals read better without casts
  Json(int value) : value_(int64_t{value}) {}                    // NOLINT
  Json(int64_t value) : value_(value) {}                         // NOLINT
  Json(uint64_t value) : value_(static_cast<int64_t>(value)) {}  // NOLINT: only for counts below 2^63
  Json(double value) : value_(value) {}                          // NOLINT
  Json(const char* value) : value_(std::string(value)) {}        // NOLINT
  Json(std::string value) : value_(std::move(value)) {}          // NOLINT
  Json(std::string_view value) : value_(std::string(value)) {}   // NOLINT
  Json(Array value) : value_(std::move(value)) {}                // NOLINT
  Json(const std::vector<std::string>& values);                  // NOLINT
  static Json object(Object members = {}) {
    Json json;
    json.value_ = std::move(members);
    return json;
  }
  static Json array() { return Json(Array{}); }

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int() const { return std::holds_alternative<int64_t>(value_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // The value, or the default when it is of another type: for optional fields. Required fields go through `need_*`.
  bool as_bool(bool otherwise = false) const { return is_bool() ? std::get<bool>(value_) : otherwise; }
  int64_t as_int(int64_t otherwise = 0) const { return is_int() ? std::get<int64_t>(value_) : otherwise; }
  double as_double(double otherwise = 0) const;
  const std::string& as_string() const;         // empty when it is no string
  const Array& as_array() const;                // empty when it is no array
  const Object& as_object() const;              // empty when it is no object
  std::vector<std::string> as_strings() const;  // the strings of an array

  const Json* find(std::string_view key) const;        // nullptr when absent or not an object
  const Json& operator[](std::string_view key) const;  // null when absent
  void set(std::string key, Json value);               // makes null an object; replaces an existing member
  void push(Json value);                               // makes null an array

  // Required members of the named type; errors say which key.
  Result<int64_t> need_int(std::string_view key) const;
  Result<std::string> need_string(std::string_view key) const;

  // One line; control characters escaped, invalid UTF-8 replaced. Non-finite numbers become null.
  std::string dump() const;
  std::string dump_pretty() const;  // two-space indent, for files that people read

  struct Caps {
    int64_t bytes = 16 << 20;
    int depth = 64;
    int64_t values = 2'000'000;
  };
  // Strict JSON (no comments, no trailing comma, duplicate keys refused). Integers beyond int64 become doubles.
  static Result<Json> parse(std::string_view text, const Caps& caps);
  static Result<Json> parse(std::string_view text) { return parse(text, Caps{}); }

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> value_;
};

}  // namespace benchctl
