#include "lib/failpoint.h"

#include <csignal>

#include "lib/text.h"

namespace benchctl {

KillAt::KillAt(const std::string& spec) : name_(spec) {
  size_t hash = spec.rfind('#');
  if (hash == std::string::npos) return;
  if (auto visits = parse_int(std::string_view(spec).substr(hash + 1)); visits && *visits >= 1) {
    name_ = spec.substr(0, hash);
    visits_left_ = static_cast<int>(*visits);
  }
}

Status KillAt::reach(const std::string& where) {
  if (where == name_ && --visits_left_ == 0) raise(SIGKILL);
  return {};
}

}  // namespace benchctl
