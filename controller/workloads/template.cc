#include "controller/workloads/template.h"

#include <cstdio>
#include <optional>

#include "lib/text.h"

namespace benchctl {
namespace {

using Params = std::map<std::string, std::string>;

// The value for the inside of a pair of braces, or nothing.
std::optional<std::string> value_for(const std::string& name, const Params& params) {
  if (auto found = params.find(name); found != params.end()) return found->second;
  for (const char* unit : {"_s", "_ms"}) {
    if (!name.ends_with(unit)) continue;
    auto found = params.find(name.substr(0, name.size() - std::string_view(unit).size()));
    auto ms = found == params.end() ? std::nullopt : parse_duration_ms(found->second);
    if (!ms) continue;
    if (std::string_view(unit) == "_ms") return std::to_string(*ms);
    char text[48];
    std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(*ms / 1000),
                  static_cast<long long>(*ms % 1000));
    std::string seconds = text;
    while (seconds.ends_with('0')) seconds.pop_back();
    if (seconds.ends_with('.')) seconds.pop_back();
    return seconds;
  }
  return std::nullopt;
}

}  // namespace

std::string fill_template(const std::string& word, const Params& params) {
  std::string filled;
  for (size_t at = 0; at < word.size();) {
    size_t open = word.find('{', at);
    size_t close = open == std::string::npos ? open : word.find('}', open);
    if (close == std::string::npos) return filled + word.substr(at);
    filled += word.substr(at, open - at);
    if (auto value = value_for(word.substr(open + 1, close - open - 1), params)) {
      filled += *value;
      at = close + 1;
    } else {
      filled += '{';
      at = open + 1;
    }
  }
  return filled;
}

}  // namespace benchctl
