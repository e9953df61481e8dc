// The last step of whatever makes a folder that must appear whole or not at all.
#pragma once

#include <string>

#include "lib/result.h"

namespace benchctl {

// Moves a finished folder to `dest`, named by its content and in the same parent; where another was first, that one
// stays. `temporary` is gone afterwards, and on success the parent is synced.
Status put_in_place(const std::string& temporary, const std::string& dest);

}  // namespace benchctl
