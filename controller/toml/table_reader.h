// Reads one TOML table key by key. Whatever was asked for is a known key; refuse_unknown() names the rest. A key that
// is absent, or present and wrong (which is then a finding), leaves the output as it was: defaults stand in the struct.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "controller/toml/findings.h"

namespace benchctl {

class TableReader {
 public:
  // `name` is how messages call the table: "[fleet.small]"; empty for the top of the file.
  TableReader(const toml::Node& node, std::string name, Findings& findings)
      : node_(node), name_(std::move(name)), findings_(findings) {}

  const toml::Node* get(std::string_view key);  // nullptr when absent
  bool has(std::string_view key) { return get(key) != nullptr; }
  toml::Place place(std::string_view key) const;  // of the value; of the table when the key is absent
  toml::Place place() const { return node_.place; }
  const std::string& name() const { return name_; }

  void text(std::string_view key, std::string& out, size_t max_bytes = 200);  // printable, not empty
  void boolean(std::string_view key, bool& out);
  void integer(std::string_view key, int& out, int64_t min, int64_t max);
  void integer(std::string_view key, uint64_t& out, int64_t min, int64_t max);
  void number(std::string_view key, double& out, double min, double max);  // an integer will do
  void duration(std::string_view key, int64_t& out_ms, int64_t min_ms, int64_t max_ms);
  void bytes(std::string_view key, int64_t& out, int64_t min, int64_t max);
  void percent(std::string_view key, double& share);  // "1%" -> 0.01; 0% to 100%
  void choice(std::string_view key, std::string& out, const std::vector<std::string>& choices);
  // A list of distinct printable texts, none of them empty; a single text counts as a list of one.
  void texts(std::string_view key, std::vector<std::string>& out, size_t max_count);
  // argv: may repeat itself.
  void words(std::string_view key, std::vector<std::string>& out, size_t max_count);
  // The table under `key`, or nullptr.
  const toml::Node* table(std::string_view key);

  void wrong(std::string_view key, const std::string& why);  // `key in [table] why`
  void missing(std::string_view key, const std::string& what);
  void refuse_unknown();

 private:
  const toml::Node* typed(std::string_view key, toml::Node::Kind kind);
  bool read_texts(std::string_view key, std::vector<std::string>& out, size_t max_count, bool distinct);

  const toml::Node& node_;
  std::string name_;
  Findings& findings_;
  std::vector<std::string> known_;
};

}  // namespace benchctl
