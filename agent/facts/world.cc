#include "agent/facts/world.h"

#include "lib/files.h"
#include "lib/text.h"

namespace benchctl {

Result<std::string> World::read(const std::string& path) const {
  auto content = read_pseudo_file(root + path);
  if (content.ok() || root.empty()) return content;
  return Error{content.error().kind, "cannot read " + path};
}

std::optional<std::string> World::line(const std::string& path) const {
  auto content = read_pseudo_file(root + path, 4096);
  if (!content) return std::nullopt;
  std::string text(trim(*content));
  if (text.empty()) return std::nullopt;
  return text;
}

std::optional<int64_t> World::number(const std::string& path) const {
  auto text = line(path);
  return text ? parse_int(*text) : std::nullopt;
}

std::vector<std::string> World::list(const std::string& path) const {
  auto names = list_dir(root + path);
  return names ? *names : std::vector<std::string>{};
}

}  // namespace benchctl
