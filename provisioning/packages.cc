#include "provisioning/packages.h"

#include <algorithm>

#include "lib/text.h"

namespace benchctl {

bool valid_package(std::string_view name) {
  auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return name.size() >= 2 && name.size() <= 64 && plain(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return plain(c) || c == '+' || c == '-' || c == '.'; });
}

std::vector<std::string> packages_of(const MachineSpec& spec) {
  std::vector<std::string> packages;
  auto listed = spec.options.find("packages");
  if (listed == spec.options.end()) return packages;
  for (std::string_view name : split(listed->second, ','))
    if (!name.empty()) packages.emplace_back(name);
  return packages;
}

}  // namespace benchctl
