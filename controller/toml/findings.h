// What is wrong with a TOML file, and what is doubtful: collected in one go, told in file order.
#pragma once

#include <string>
#include <vector>

#include "controller/toml/toml.h"
#include "lib/result.h"

namespace benchctl {

class Findings {
 public:
  // `sets` are the --set words; a Place of line 0 and column n was made by the n-th of them.
  Findings(std::string file, std::vector<std::string> sets) : file_(std::move(file)), sets_(std::move(sets)) {}

  void error(toml::Place place, const std::string& message);
  void warn(toml::Place place, const std::string& message);
  bool ok() const { return errors_.empty(); }
  // True once so many mistakes are known that looking for more (and for what was meant) is a waste.
  bool full() const { return errors_.size() >= kShown; }

  // kUsage; every mistake a line, at most kShown of them and a last line that says how many more there are.
  Error as_error() const;
  std::vector<std::string> warnings() const;
  // "file:line:column: ", or "--set …: "; what a message begins with.
  std::string where(toml::Place place) const;

 private:
  static constexpr size_t kShown = 50;
  struct Finding {
    toml::Place place;
    std::string message;
  };
  std::vector<std::string> told(std::vector<Finding> findings, const std::string& prefix) const;

  std::string file_;
  std::vector<std::string> sets_;
  std::vector<Finding> errors_;
  std::vector<Finding> warnings_;
};

// A foreign text inside a message: sanitised, short, in quotes.
std::string quoted(std::string_view text);
// `; did you mean "region"?`, or nothing.
std::string meant(std::string_view word, const std::vector<std::string>& candidates);
// "latin, abba, fixed"
std::string listed(const std::vector<std::string>& words);

}  // namespace benchctl
