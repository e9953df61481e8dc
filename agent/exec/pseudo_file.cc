#include "agent/exec/pseudo_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "lib/text.h"

namespace benchctl {

PseudoFile::PseudoFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

std::string_view PseudoFile::read(size_t limit) {
  if (!fd_) return {};
  size_t filled = 0;
  if (buffer_.size() < std::min<size_t>(limit, 4096)) buffer_.resize(std::min<size_t>(limit, 4096));
  while (filled < limit) {
    size_t room = std::min(buffer_.size(), limit) - filled;
    if (room == 0) {
      buffer_.resize(std::min(limit, buffer_.size() * 2));
      continue;
    }
    ssize_t count = pread(fd_.get(), buffer_.data() + filled, room, static_cast<off_t>(filled));
    if (count <= 0) break;
    filled += static_cast<size_t>(count);
  }
  return {buffer_.data(), filled};
}

int64_t keyed_number(std::string_view text, std::string_view key, int64_t otherwise) {
  for (std::string_view line : split(text, '\n')) {
    if (line.size() <= key.size() || !line.starts_with(key) || (line[key.size()] != ' ' && line[key.size()] != '\t'))
      continue;
    std::string_view rest = trim(line.substr(key.size()));
    return parse_int(rest.substr(0, rest.find_first_of(" \t"))).value_or(otherwise);
  }
  return otherwise;
}

}  // namespace benchctl
