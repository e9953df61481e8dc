// The words of a declared command with their parameters filled in.
#pragma once

#include <map>
#include <string>

namespace benchctl {

// "{items}" -> the parameter items. A time also as a plain number: {duration_s} (seconds), {duration_ms}. Braces around
// anything else stay as they are.
std::string fill_template(const std::string& word, const std::map<std::string, std::string>& params);

}  // namespace benchctl
