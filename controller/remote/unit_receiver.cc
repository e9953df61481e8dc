#include "controller/remote/unit_receiver.h"

#include <sys/stat.h>

#include <cstdio>
#include <set>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {

UnitReceiver::UnitReceiver(std::string dest, std::string manifest_sha256, PackCaps caps)
    : dest_(std::move(dest)),
      temporary_(dest_ + ".tmp-" + random_hex(6)),
      manifest_sha256_(std::move(manifest_sha256)),
      reader_(std::make_unique<PackReader>(temporary_, caps)) {}

UnitReceiver::~UnitReceiver() {
  reader_.reset();
  // The failure that brought us here is what is reported; a leftover beside it is found by its name.
  if (made_) (void)remove_tree(temporary_).ok();
}

Status UnitReceiver::begin() {
  size_t slash = dest_.rfind('/');
  if (slash != std::string::npos && slash > 0) BENCHCTL_CHECK(make_dirs(dest_.substr(0, slash)));
  if (mkdir(temporary_.c_str(), 0700) != 0) return errno_error("mkdir " + temporary_);
  made_ = true;
  return {};
}

Status UnitReceiver::check_manifest() {
  std::string found = sha256_hex(format_manifest(reader_->entries()));
  if (found != manifest_sha256_)
    return Error{ErrorKind::kInternal, "its manifest has sha256 " + found + ", announced was " + manifest_sha256_};
  manifest_checked_ = true;
  return check_space();
}

// Said before the first byte lands, with the number: half a unit on a full disk helps nobody.
Status UnitReceiver::check_space() const {
  int64_t needed = 0;
  for (const PackEntry& entry : reader_->entries()) needed += entry.size;
  BENCHCTL_TRY(int64_t free, free_bytes(temporary_));
  if (needed <= free) return {};
  return Error{ErrorKind::kInternal, "No space left on device: it needs " + format_bytes(needed) + ", and " +
                                         format_bytes(free) + " are free at " + dest_};
}

Status UnitReceiver::feed(std::string_view bytes) {
  BENCHCTL_CHECK(reader_->feed(bytes));
  // As soon as the manifest is known: bytes that were not announced are not taken in.
  if (!manifest_checked_ && !reader_->entries().empty()) return check_manifest();
  return {};
}

Status UnitReceiver::finish() {
  BENCHCTL_CHECK(reader_->done());
  if (!manifest_checked_) BENCHCTL_CHECK(check_manifest());
  std::set<std::string> folders = {temporary_};
  for (const PackEntry& entry : reader_->entries())
    for (size_t slash = entry.path.find('/'); slash != std::string::npos; slash = entry.path.find('/', slash + 1))
      folders.insert(temporary_ + "/" + entry.path.substr(0, slash));
  for (const std::string& folder : folders) BENCHCTL_CHECK(sync_dir(folder));
  if (rename(temporary_.c_str(), dest_.c_str()) != 0) return errno_error("rename " + temporary_ + " to " + dest_);
  made_ = false;
  size_t slash = dest_.rfind('/');
  return sync_dir(slash == std::string::npos ? "." : slash == 0 ? "/" : dest_.substr(0, slash));
}

}  // namespace benchctl
