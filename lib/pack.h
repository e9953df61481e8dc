// A pack is how trees travel, in both directions, over one pipe: a manifest in the format of sha256sum with sizes, then
// the files' bytes in the manifest's order. The reader knows every path and size before the first byte, so it can
// refuse early, reads never more than declared, and verifies each file as it lands. No links, devices, owners or dates
// exist.
//
//   benchctl-pack 1 <number of files>\n
//   <sha256> <size> <mode 644|755> <relative path>\n      (sorted by path)
//   \n
//   <bytes of file 1><bytes of file 2>...
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace benchctl {

struct PackEntry {
  std::string path;  // safe_relative_path()
  std::string sha256;
  int64_t size = 0;
  bool executable = false;
};

struct PackCaps {
  int64_t files = 100'000;
  int64_t file_bytes = int64_t{1} << 30;
  int64_t total_bytes = int64_t{4} << 30;
};

using ByteSink = std::function<Status(std::string_view)>;

// Writes the tree below `root` (only the given relative paths; all regular files when `paths` is empty) to `sink`.
// A symbolic link that stays in the tree is packed as the file it names; any other special file is an error.
Status write_pack(const std::string& root, const std::vector<std::string>& paths, const ByteSink& sink);

// The manifest text alone (what MANIFEST.sha256 of a bundle or a round holds), and its parser.
std::string format_manifest(const std::vector<PackEntry>& entries);
Result<std::vector<PackEntry>> parse_manifest(std::string_view text, const PackCaps& caps);
// Hashes the tree below `root`; same rules as write_pack.
Result<std::vector<PackEntry>> scan_tree(const std::string& root, const std::vector<std::string>& paths);

// Incremental reader: feed() it bytes as they come; it writes below `folder`, which must exist, be private and ours.
// Files appear under their final names only there: the caller renames the whole folder into place when done() says so.
class PackReader {
 public:
  PackReader(std::string folder, PackCaps caps);
  ~PackReader();
  PackReader(const PackReader&) = delete;
  PackReader& operator=(const PackReader&) = delete;

  // The first failure is final: later calls give it again.
  Status feed(std::string_view bytes);
  // After the last byte: success only when everything declared has come, with the right hashes.
  Status done();
  const std::vector<PackEntry>& entries() const { return entries_; }

 private:
  Status take(std::string_view bytes);
  Status open_next();
  Status close_current();

  std::string folder_;
  PackCaps caps_;
  std::string header_;
  bool in_body_ = false;
  std::vector<PackEntry> entries_;
  size_t index_ = 0;
  int fd_ = -1;
  int64_t left_ = 0;
  class Sha256* hash_ = nullptr;
  std::optional<Error> failed_;
};

}  // namespace benchctl
