// --set PATH=VALUE: a change of the tree before it is read, so that an override obeys every rule that the file obeys.
#pragma once

#include <string>
#include <vector>

#include "controller/toml/findings.h"

namespace benchctl {

// PATH is keys joined by dots; in a list of tables a number from 0, or * for all: suite.*.params.items=1000. VALUE is
// TOML where it is that (3, true, [1, 2], "text"), else a text as it stands (latin, 3h). Later ones win.
void apply_sets(toml::Node& root, const std::vector<std::string>& sets, Findings& findings);

}  // namespace benchctl
