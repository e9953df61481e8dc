// Packages that a machine of our own making has beyond those of every image: the option "packages" of its spec.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "provisioning/provider.h"

namespace benchctl {

// A name as Debian has them: two or more of a-z, 0-9, + - . with a letter or digit first. No version, no option.
bool valid_package(std::string_view name);

// Sorted as they stand there, apart by commas.
std::vector<std::string> packages_of(const MachineSpec& spec);

}  // namespace benchctl
