// A tree as a pack, piece by piece, for a command's standard input.
#pragma once

#include <string>
#include <vector>

#include "lib/pack.h"
#include "provisioning/transport.h"

namespace benchctl {

// `entries` are what scan_tree(root) found. A file that has changed since is an error here when its size shows it, and
// at the reader otherwise, which checks every hash.
ByteSource pack_source(std::string root, std::vector<PackEntry> entries);

}  // namespace benchctl
