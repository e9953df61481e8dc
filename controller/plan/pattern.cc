#include "controller/plan/pattern.h"

#include <re2/re2.h>

#include "lib/text.h"

namespace benchctl {
namespace {

RE2::Options options() {
  RE2::Options chosen(RE2::Quiet);
  chosen.set_max_mem(1 << 20);
  return chosen;
}

}  // namespace

std::string pattern_mistake(const std::string& pattern) {
  RE2 compiled(pattern, options());
  return compiled.ok() ? "" : sanitize(compiled.error(), 200);
}

bool pattern_matches(const std::string& pattern, const std::string& text) {
  RE2 compiled(pattern, options());
  return compiled.ok() && RE2::PartialMatch(text, compiled);
}

}  // namespace benchctl
