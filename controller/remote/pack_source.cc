#include "controller/remote/pack_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "lib/files.h"

namespace benchctl {
namespace {

constexpr int64_t kPiece = 256 << 10;

class Source {
 public:
  Source(std::string root, std::vector<PackEntry> entries) : root_(std::move(root)), entries_(std::move(entries)) {}

  Result<std::string> next() {
    if (!header_sent_) {
      header_sent_ = true;
      return format_manifest(entries_) + "\n";
    }
    while (left_ == 0) {
      if (index_ == entries_.size()) return std::string();
      const PackEntry& entry = entries_[index_++];
      file_.reset(open((root_ + "/" + entry.path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
      if (!file_) return errno_error("open " + root_ + "/" + entry.path);
      left_ = entry.size;
    }
    std::string piece(static_cast<size_t>(std::min(left_, kPiece)), '\0');
    ssize_t count = read(file_.get(), piece.data(), piece.size());
    const std::string& path = entries_[index_ - 1].path;
    if (count < 0) return errno_error("read " + root_ + "/" + path);
    if (count == 0) return Error{ErrorKind::kInternal, root_ + "/" + path + ": became shorter while it was sent"};
    piece.resize(static_cast<size_t>(count));
    left_ -= count;
    return piece;
  }

 private:
  std::string root_;
  std::vector<PackEntry> entries_;
  bool header_sent_ = false;
  size_t index_ = 0;
  UniqueFd file_;
  int64_t left_ = 0;
};

}  // namespace

ByteSource pack_source(std::string root, std::vector<PackEntry> entries) {
  auto source = std::make_shared<Source>(std::move(root), std::move(entries));
  return [source] { return source->next(); };
}

}  // namespace benchctl
