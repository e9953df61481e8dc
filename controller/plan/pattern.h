#pragma once

#include <string>

namespace benchctl {

// Why `pattern` is no RE2 pattern (linear time, capped memory: safe from strangers); empty when it is one.
std::string pattern_mistake(const std::string& pattern);
// Whether it matches anywhere in `text`; false when the pattern is wrong.
bool pattern_matches(const std::string& pattern, const std::string& text);

}  // namespace benchctl
