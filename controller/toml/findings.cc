#include "controller/toml/findings.h"

#include <algorithm>
#include <tuple>

#include "lib/text.h"

namespace benchctl {
namespace {

// More than this is counted, not kept: a hostile file must not fill the memory with messages.
constexpr size_t kKept = 10'000;

}  // namespace

void Findings::error(toml::Place place, const std::string& message) {
  if (errors_.size() < kKept) errors_.push_back({place, message});
}

void Findings::warn(toml::Place place, const std::string& message) {
  if (warnings_.size() < kShown) warnings_.push_back({place, message});
}

std::string Findings::where(toml::Place place) const {
  if (place.line > 0) return file_ + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  size_t set = static_cast<size_t>(place.column);
  if (set >= 1 && set <= sets_.size()) return "--set " + sanitize(sets_[set - 1], 120) + ": ";
  return file_ + ": ";
}

std::vector<std::string> Findings::told(std::vector<Finding> findings, const std::string& prefix) const {
  // What came by --set has no line: after the file's own.
  auto key = [](const Finding& finding) {
    return std::tuple(finding.place.line == 0, finding.place.line, finding.place.column);
  };
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return key(a) < key(b); });
  std::vector<std::string> lines;
  for (size_t i = 0; i < findings.size() && i < kShown; ++i)
    lines.push_back(where(findings[i].place) + prefix + findings[i].message);
  return lines;
}

Error Findings::as_error() const {
  std::vector<std::string> lines = told(errors_, "");
  if (errors_.size() > kShown)
    lines.push_back(file_ + ": " + std::to_string(errors_.size() - kShown) +
                    (errors_.size() == kKept ? " or more" : "") + " further mistakes are not shown");
  return Error{ErrorKind::kUsage, join(lines, "\n")};
}

std::vector<std::string> Findings::warnings() const {
  return told(warnings_, "warning: ");
}

std::string quoted(std::string_view text) {
  return "\"" + sanitize(text, 80) + "\"";
}

std::string meant(std::string_view word, const std::vector<std::string>& candidates) {
  auto best = did_you_mean(word, candidates);
  return best ? "; did you mean " + quoted(*best) + "?" : "";
}

std::string listed(const std::vector<std::string>& words) {
  std::vector<std::string> clean;
  for (const std::string& word : words) clean.push_back(sanitize(word, 80));
  return join(clean, ", ");
}

}  // namespace benchctl
