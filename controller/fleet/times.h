// Bounds for one operation each on a machine; a slow cloud needs minutes to boot, nothing else takes more than seconds.
#pragma once

#include <cstdint>

namespace benchctl {

inline constexpr int64_t kBootMs = 5 * 60'000;
inline constexpr int64_t kConnectMs = 60'000;
inline constexpr int64_t kAgainMs = 2 * 60'000;  // to a machine that has been reached before
inline constexpr int64_t kShortCallMs = 60'000;
inline constexpr int64_t kTransferMs = 10 * 60'000;
inline constexpr int64_t kBuildMs = 30 * 60'000;  // of one recipe, compiled and trained there

}  // namespace benchctl
