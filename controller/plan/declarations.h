// Finds declared things by name; nullptr when there are none.
#pragma once

#include <string_view>
#include <vector>

#include "controller/workloads/workload.h"

namespace benchctl {

template <typename T>
const T* find_named(const std::vector<T>& all, std::string_view name) {
  for (const T& one : all)
    if (one.name == name) return &one;
  return nullptr;
}

inline const ModeDecl* find_mode(const std::vector<Workload>& workloads, std::string_view workload,
                                 std::string_view mode) {
  const Workload* found = find_named(workloads, workload);
  return found == nullptr ? nullptr : find_named(found->modes, mode);
}

}  // namespace benchctl
