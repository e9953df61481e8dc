#include "controller/workloads/target.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/text.h"

namespace benchctl {
namespace {

// "glibc 2.36" or "2.36" -> (2, 36).
std::optional<std::pair<int64_t, int64_t>> version_of(std::string_view text) {
  size_t begin = text.find_first_of("0123456789");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  auto parts = split(text.substr(0, text.find_first_not_of("0123456789.")), '.');
  if (parts.size() < 2) return std::nullopt;
  auto major = parse_int(parts[0]), minor = parse_int(parts[1]);
  if (!major || !minor) return std::nullopt;
  return std::pair(*major, *minor);
}

}  // namespace

std::string arch_of_isa(std::string_view isa) {
  if (isa.starts_with("x86-64")) return "x86_64";
  if (isa.starts_with("armv8") || isa.starts_with("armv9")) return "aarch64";
  return "";
}

std::vector<std::string> flags_of_isa(std::string_view isa) {
  static const std::vector<std::string> kLevels[] = {
      {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
      {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
      {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}};
  std::vector<std::string> flags;
  if (!isa.starts_with("x86-64-v") || isa.size() != 9) return flags;
  for (char level = '2'; level <= isa[8] && level <= '4'; ++level)
    flags.insert(flags.end(), kLevels[level - '2'].begin(), kLevels[level - '2'].end());
  return flags;
}

std::vector<std::string> missing_flags(const std::vector<std::string>& wanted,
                                       const std::vector<std::string>& present) {
  std::vector<std::string> missing;
  for (const std::string& flag : wanted)
    if (std::find(present.begin(), present.end(), flag) == present.end()) missing.push_back(flag);
  return missing;
}

bool glibc_suffices(std::string_view wanted, std::string_view present) {
  auto needed = version_of(wanted), found = version_of(present);
  return !needed || !found || *found >= *needed;
}

}  // namespace benchctl
