#include "agent/facts/system_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "lib/text.h"

namespace benchctl {
namespace {

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> found;
  for (size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    size_t end = std::min(line.find_first_of(" \t", at), line.size());
    found.push_back(line.substr(at, end - at));
    at = end;
  }
  return found;
}

}  // namespace

std::map<std::string, int64_t> parse_meminfo(std::string_view text) {
  std::map<std::string, int64_t> found;
  for (std::string_view line : split(text, '\n')) {
    size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    auto parts = words(line.substr(colon + 1));
    auto value = parts.empty() ? std::nullopt : parse_int(parts[0]);
    if (!value || *value < 0 || *value > INT64_MAX / 1024) continue;
    found.emplace(trim(line.substr(0, colon)), parts.size() > 1 && parts[1] == "kB" ? *value * 1024 : *value);
  }
  return found;
}

std::map<std::string, std::string> parse_os_release(std::string_view text) {
  std::map<std::string, std::string> found;
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    size_t equals = line.find('=');
    if (line.empty() || line[0] == '#' || equals == std::string_view::npos) continue;
    std::string_view value = line.substr(equals + 1);
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0])
      value = value.substr(1, value.size() - 2);
    std::string plain;
    for (size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '\\' && i + 1 < value.size()) ++i;
      plain += value[i];
    }
    found.emplace(line.substr(0, equals), plain.substr(0, 256));
  }
  return found;
}

std::optional<ProcessStat> parse_proc_stat(std::string_view text) {
  size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  auto pid = parse_int(trim(text.substr(0, open)));
  auto rest = words(trim(text.substr(close + 1)));  // field 3 (state) is rest[0]; utime is field 14, stime 15
  if (!pid || rest.size() < 13) return std::nullopt;
  auto user = parse_int(rest[11]), system = parse_int(rest[12]);
  if (!user || !system || *user < 0 || *system < 0 || *user > INT64_MAX / 2 || *system > INT64_MAX / 2)
    return std::nullopt;
  return ProcessStat{*pid, std::string(text.substr(open + 1, close - open - 1)), *user + *system};
}

namespace {

// mountinfo writes space, tab, line feed and backslash as \ooo.
std::string unescape_octal(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    auto digit = [&](size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && digit(i + 1) && digit(i + 2) && digit(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool is_below(std::string_view path, std::string_view folder) {
  return folder == "/" || path == folder || (path.starts_with(folder) && path.substr(folder.size()).starts_with('/'));
}

}  // namespace

std::vector<Mount> parse_mountinfo(std::string_view text) {
  std::vector<Mount> mounts;
  for (std::string_view line : split(text, '\n')) {
    auto parts = words(line);
    auto dash = std::find(parts.begin(), parts.end(), "-");
    if (parts.size() < 10 || parts.end() - dash < 4 || dash - parts.begin() < 6) continue;
    mounts.push_back({std::string(parts[2]), unescape_octal(parts[3]), unescape_octal(parts[4]), std::string(dash[1]),
                      unescape_octal(dash[2]), std::string(parts[5]) + "," + std::string(dash[3])});
  }
  return mounts;
}

std::optional<Mount> mount_of(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts)
    if (is_below(path, mount.point) && (best == nullptr || mount.point.size() >= best->point.size())) best = &mount;
  return best != nullptr ? std::optional<Mount>(*best) : std::nullopt;
}

namespace {

// "0100007F" (one 32-bit word as the machine stores it, little-endian) or four such words → text.
std::optional<std::string> parse_address(std::string_view hex) {
  if (hex.size() != 8 && hex.size() != 32) return std::nullopt;
  std::vector<unsigned> bytes;
  for (size_t word = 0; word < hex.size(); word += 8) {
    for (size_t i = 0; i < 4; ++i) {
      unsigned value = 0;
      const char* at = hex.data() + word + 6 - 2 * i;
      auto [end, error] = std::from_chars(at, at + 2, value, 16);
      if (error != std::errc{} || end != at + 2) return std::nullopt;
      bytes.push_back(value);
    }
  }
  std::string text;
  char part[8];
  if (bytes.size() == 4) {
    for (size_t i = 0; i < 4; ++i) text += (i > 0 ? "." : "") + std::to_string(bytes[i]);
    return text;
  }
  if (std::all_of(bytes.begin(), bytes.end() - 1, [](unsigned b) { return b == 0; }))
    return bytes.back() == 0 ? "::" : bytes.back() == 1 ? "::1" : "::" + std::to_string(bytes.back());
  for (size_t i = 0; i < 16; i += 2) {
    std::snprintf(part, sizeof part, "%s%x", i > 0 ? ":" : "", bytes[i] << 8 | bytes[i + 1]);
    text += part;
  }
  return text;
}

}  // namespace

std::vector<Socket> parse_proc_net(std::string_view text, const std::string& protocol) {
  // States as in the kernel's tcp_states.h: 0A is listening; an unconnected UDP socket is 07 (closed).
  std::string_view wanted = protocol.starts_with("tcp") ? "0A" : "07";
  std::vector<Socket> sockets;
  for (std::string_view line : split(text, '\n')) {
    auto parts = words(line);
    if (parts.size() < 10 || parts[3] != wanted) continue;
    size_t colon = parts[1].find(':');
    if (colon == std::string_view::npos) continue;
    auto address = parse_address(parts[1].substr(0, colon));
    std::string_view hex = parts[1].substr(colon + 1);
    unsigned port = 0;
    auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), port, 16);
    auto inode = parse_int(parts[9]);
    if (!address || error != std::errc{} || end != hex.data() + hex.size() || port > 65535 || !inode) continue;
    sockets.push_back({protocol, *address, int64_t{port}, *inode});
    if (sockets.size() >= 1000) break;
  }
  return sockets;
}

CgroupFolders cgroup_folders(const std::vector<Mount>& mounts, std::string_view self_cgroup,
                             std::string_view controller) {
  auto holds = [](std::string_view list, std::string_view word) {
    auto parts = split(list, ',');
    return std::find(parts.begin(), parts.end(), word) != parts.end();
  };
  // "<id>:<controllers>:<path>"; version 2 has an empty list. A v1 hierarchy of the controller wins on hybrid hosts.
  CgroupFolders found;
  std::string path;
  for (std::string_view line : split(self_cgroup, '\n')) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    std::string_view list = line.substr(first + 1, second - first - 1);
    bool v1 = holds(list, controller);
    if (!v1 && (!list.empty() || found.version == 1)) continue;
    found.version = v1 ? 1 : 2;
    path = line.substr(second + 1);
  }
  const Mount* mount = nullptr;
  for (const Mount& candidate : mounts) {
    if (found.version == 1 && candidate.filesystem == "cgroup" && holds(candidate.options, controller))
      mount = &candidate;
    if (found.version == 2 && candidate.filesystem == "cgroup2") mount = &candidate;
  }
  if (mount == nullptr || path.find("/..") != std::string::npos) return {};
  // In a container the path may be told from the host's root while only a part of the hierarchy is mounted.
  if (mount->root != "/") path = is_below(path, mount->root) ? path.substr(mount->root.size()) : "";
  while (path.ends_with('/')) path.pop_back();
  while (!path.empty() && found.folders.size() < 32) {
    found.folders.push_back(mount->point + path);
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
  found.folders.push_back(mount->point);
  return found;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  auto parts = words(trim(text));
  if (parts.size() != 2) return std::nullopt;
  auto quota = parse_int(parts[0]), period = parse_int(parts[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

namespace {

constexpr Json::Caps kToolCaps{.bytes = 4 << 20, .depth = 8, .values = 50'000};

Json timer(std::string_view unit, std::string_view activates, bool next) {
  Json one = Json::object();
  one.set("unit", sanitize(unit, 256));
  one.set("activates", sanitize(activates, 256));
  one.set("next", next);
  return one;
}

}  // namespace

std::optional<Json> parse_timers(std::string_view text) {
  Json timers = Json::array();
  if (trim(text).starts_with('[')) {
    auto json = Json::parse(text, kToolCaps);
    if (!json) return std::nullopt;
    for (const Json& one : json->as_array()) {
      if (!one["unit"].is_string()) continue;
      timers.push(timer(one["unit"].as_string(), one["activates"].as_string(), one["next"].as_double() > 0));
    }
    return timers;
  }
  // Columns vary with the version, but unit and activated unit are the last two; "n/a" or "-" stands for no next run.
  bool header = false;
  for (std::string_view line : split(text, '\n')) {
    auto parts = words(line);
    if (parts.empty()) continue;
    if (parts[0] == "NEXT") header = true;
    if (!header || parts.size() < 3 || !parts[parts.size() - 2].ends_with(".timer")) continue;
    timers.push(timer(parts[parts.size() - 2], parts.back(), parts[0] != "n/a" && parts[0] != "-"));
  }
  if (!header && text.find("0 timers listed") == std::string_view::npos) return std::nullopt;
  return timers;
}

std::optional<std::vector<std::string>> parse_units(std::string_view text) {
  std::vector<std::string> units;
  if (trim(text).starts_with('[')) {
    auto json = Json::parse(text, kToolCaps);
    if (!json) return std::nullopt;
    for (const Json& one : json->as_array())
      if (one["unit"].is_string()) units.push_back(sanitize(one["unit"].as_string(), 256));
  } else {
    for (std::string_view line : split(text, '\n')) {
      auto parts = words(line);
      if (!parts.empty() && (parts[0] == "●" || parts[0] == "*")) parts.erase(parts.begin());
      if (parts.size() >= 4 && parts[0].find('.') != std::string_view::npos) units.push_back(sanitize(parts[0], 256));
    }
  }
  if (units.empty() && !trim(text).empty() && trim(text) != "[]") return std::nullopt;
  std::sort(units.begin(), units.end());
  return units;
}

std::optional<int64_t> parse_auxv_page_size(std::string_view bytes) {
  constexpr uint64_t kAtPagesz = 6;
  for (size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    uint64_t pair[2];
    std::memcpy(pair, bytes.data() + at, sizeof pair);
    if (pair[0] == kAtPagesz && pair[1] >= 4096 && pair[1] <= (1 << 20)) return static_cast<int64_t>(pair[1]);
  }
  return std::nullopt;
}

}  // namespace benchctl
