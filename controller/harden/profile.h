// Hardening profiles: data in provisioning/harden/NAME.toml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"
#include "lib/wire/harden.h"

namespace benchctl {

// The profile `name` of this installation. kUsage: no such name (the nearest one is told), or mistakes in the file, one
// line each: `…/quiet.toml:12:7: …`.
Result<HardenProfile> load_harden_profile(const std::string& source_root, const std::string& name);
// Names of the profiles there are.
std::vector<std::string> harden_profiles(const std::string& source_root);

// From the text of a profile; `file` is for messages. `name` must be the profile's own.
Result<HardenProfile> read_harden_profile(std::string_view text, const std::string& file, const std::string& name);

}  // namespace benchctl
