#include "controller/workloads/workload.h"

#include <algorithm>

#include "lib/text.h"

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

Result<const ArmDecl*> find_arm(const Workload& workload, const std::string& name) {
  if (const ArmDecl* arm = workload.arm(name)) return arm;
  std::vector<std::string> known;
  for (const ArmDecl& arm : workload.arms) known.push_back(arm.name);
  auto near = did_you_mean(name, known);
  return Error{ErrorKind::kUsage, "workload " + workload.name + " has no arm \"" + sanitize(name, 80) + "\"" +
                                      (near ? "; did you mean \"" + *near + "\"?" : "; it has " + join(known, ", "))};
}

std::vector<std::string> ArmDecl::all_builds() const {
  std::vector<std::string> all{build};
  all.insert(all.end(), other_builds.begin(), other_builds.end());
  return all;
}

std::vector<std::string> BuildDecl::isas_on_machine(const std::string& arch) const {
  std::vector<std::string> isas;
  for (const BuildTarget& target : on_machine)
    if (target.arch == arch) isas.push_back(target.isa);
  return isas;
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
