// Any bytes as a pack, fed in pieces whose size the first byte says: whatever comes, nothing is written outside the
// folder, and a reader that says "done" has written exactly what the manifest declares.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "lib/files.h"
#include "lib/pack.h"

namespace {

using namespace benchctl;

// In memory where there is such a place: the reader syncs every file.
struct WorkFolder {
  std::string path = access("/dev/shm", W_OK) == 0 ? "/dev/shm/pack-fuzz-XXXXXX" : "/tmp/pack-fuzz-XXXXXX";
  WorkFolder() {
    if (mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~WorkFolder() { (void)remove_tree(path).ok(); }
};

const std::string& work_folder() {
  static const WorkFolder folder;
  return folder.path;
}

void check_manifest(std::string_view text, const PackCaps& caps) {
  auto entries = parse_manifest(text, caps);
  if (!entries) return;
  for (const PackEntry& entry : *entries)
    if (!safe_relative_path(entry.path) || entry.size > caps.file_bytes) std::abort();
  std::string formatted = format_manifest(*entries);
  auto again = parse_manifest(formatted, caps);
  if (!again || format_manifest(*again) != formatted) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const PackCaps caps{.files = 16, .file_bytes = 4096, .total_bytes = 16'384};
  size_t piece = size_t{data[0]} + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_manifest(bytes, caps);

  const std::string folder = work_folder() + "/in";
  if (!make_dirs(folder).ok()) std::abort();
  bool good = true;
  {
    PackReader reader(folder, caps);
    for (size_t at = 0; good && at < bytes.size(); at += piece) good = reader.feed(bytes.substr(at, piece)).ok();
    good = reader.done().ok() && good;
    auto found = scan_tree(folder, {});
    if (!found) std::abort();
    if (found->size() > 16) std::abort();
    int64_t total = 0;
    for (const PackEntry& entry : *found) total += entry.size;
    if (total > caps.total_bytes) std::abort();
    if (good && found->size() != reader.entries().size()) std::abort();
    for (const PackEntry& entry : reader.entries()) {
      bool same = false;
      for (const PackEntry& file : *found)
        same = same || (file.path == entry.path && file.sha256 == entry.sha256 && file.size == entry.size &&
                        file.executable == entry.executable);
      if (good && !same) std::abort();
    }
  }
  if (list_dir(work_folder())->size() != 1) std::abort();
  if (!remove_tree(folder).ok()) std::abort();
  return 0;
}
