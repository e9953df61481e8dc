#pragma once

#include <optional>
#include <string_view>

namespace benchctl {

// How many CPUs a kernel-style list names ("0-3,8" -> 5); nothing when it is not one (overlaps and backward ranges are
// refused too).
std::optional<int> count_cpu_list(std::string_view list);

}  // namespace benchctl
