#include "controller/workloads/workload.h"

#include <algorithm>

namespace benchctl {
namespace {

template <typename T>
const T* named(const std::vector<T>& all, std::string_view wanted) {
  auto found = std::find_if(all.begin(), all.end(), [&](const T& one) { return one.name == wanted; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

const ModeDecl* Workload::mode(std::string_view wanted) const {
  return named(modes, wanted);
}

const ArmDecl* Workload::arm(std::string_view wanted) const {
  return named(arms, wanted);
}

const BuildDecl* Workload::build(std::string_view wanted) const {
  return named(builds, wanted);
}

std::vector<std::string> ArmDecl::all_builds() const {
  std::vector<std::string> all{build};
  all.insert(all.end(), other_builds.begin(), other_builds.end());
  return all;
}

std::optional<BuildTarget> BuildDecl::target(std::string_view arch, std::string_view wanted_isa) const {
  std::optional<BuildTarget> usual;
  for (const BuildTarget& one : targets) {
    if (one.arch != arch) continue;
    if (one.isa == wanted_isa) return one;
    if (!usual) usual = one;
  }
  return usual;
}

}  // namespace benchctl
