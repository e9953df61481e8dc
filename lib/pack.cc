#include "lib/pack.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

constexpr std::string_view kMagic = "benchctl-pack 1 ";
constexpr int64_t kHeaderBytes = 64 << 20;
constexpr int64_t kLineBytes = 256;  // of a manifest, on average: its path may then have 180

Error bad(const std::string& what) {
  return Error{ErrorKind::kInternal, "pack: " + what};
}

Status collect(const std::string& root, const std::string& below, std::vector<std::string>& found) {
  BENCHCTL_TRY(auto names, list_dir(below.empty() ? root : root + "/" + below));
  for (const std::string& name : names) {
    std::string path = below.empty() ? name : below + "/" + name;
    struct stat st {};
    if (stat((root + "/" + path).c_str(), &st) != 0) return errno_error("stat " + root + "/" + path);
    if (S_ISDIR(st.st_mode)) {
      struct stat link {};
      if (lstat((root + "/" + path).c_str(), &link) != 0 || S_ISLNK(link.st_mode))
        return bad(path + ": a link to a folder cannot be packed");
      BENCHCTL_CHECK(collect(root, path, found));
    } else {
      found.push_back(path);
    }
  }
  return {};
}

// Links are followed only below the root: a tree from a stranger must not carry our files away.
Result<UniqueFd> open_for_pack(const std::string& root, const std::string& path, struct stat& st) {
  if (!safe_relative_path(path)) return bad("unsafe path " + sanitize(path, 200));
  BENCHCTL_TRY(UniqueFd dir, open_dir(root));
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, dir.get(), path.c_str(), &how, sizeof how)));
  if (!fd && errno == ENOSYS) {  // an old kernel or qemu's user mode: then no links at all
    BENCHCTL_TRY(fd, open_beneath(dir.get(), path, O_RDONLY));
  }
  if (!fd && errno == EXDEV) return bad(path + ": a link that leaves " + root + " cannot be packed");
  if (!fd || fstat(fd.get(), &st) != 0) return errno_error("open " + root + "/" + path);
  if (!S_ISREG(st.st_mode)) return bad(path + ": not a regular file");
  return fd;
}

// Reads exactly `size` bytes; a file that shrank is an error, one that grew is cut at the declared size.
Status copy_bytes(int fd, int64_t size, const std::string& path, const ByteSink& sink) {
  char buffer[65536];
  while (size > 0) {
    ssize_t count = read(fd, buffer, static_cast<size_t>(std::min<int64_t>(size, sizeof buffer)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("read " + path);
    if (count == 0) return bad(path + ": became shorter while it was read");
    BENCHCTL_CHECK(sink({buffer, static_cast<size_t>(count)}));
    size -= count;
  }
  return {};
}

}  // namespace

Result<std::vector<PackEntry>> scan_tree(const std::string& root, const std::vector<std::string>& paths) {
  std::vector<std::string> chosen = paths;
  if (chosen.empty()) BENCHCTL_CHECK(collect(root, "", chosen));
  std::sort(chosen.begin(), chosen.end());
  std::vector<PackEntry> entries;
  for (const std::string& path : chosen) {
    struct stat st {};
    BENCHCTL_TRY(UniqueFd fd, open_for_pack(root, path, st));
    Sha256 hash;
    BENCHCTL_CHECK(copy_bytes(fd.get(), st.st_size, path, [&](std::string_view bytes) {
      hash.update(bytes);
      return Status();
    }));
    entries.push_back({path, hash.hex(), st.st_size, (st.st_mode & 0111) != 0});
  }
  return entries;
}

std::string format_manifest(const std::vector<PackEntry>& entries) {
  std::string text = std::string(kMagic) + std::to_string(entries.size()) + "\n";
  for (const PackEntry& entry : entries)
    text +=
        entry.sha256 + " " + std::to_string(entry.size) + (entry.executable ? " 755 " : " 644 ") + entry.path + "\n";
  return text;
}

Result<std::vector<PackEntry>> parse_manifest(std::string_view text, const PackCaps& caps) {
  if (!text.starts_with(kMagic)) return bad("not a manifest of version 1");
  if (!text.ends_with('\n')) return bad("cut manifest");
  auto count = parse_int(text.substr(kMagic.size(), text.find('\n') - kMagic.size()));
  if (!count || *count < 0 || *count > caps.files) return bad("a file count outside 0.." + std::to_string(caps.files));
  // Counted before anything is kept of them.
  if (std::count(text.begin(), text.end(), '\n') - 1 != *count) return bad("manifest lines and file count differ");
  auto lines = split(text.substr(0, text.size() - 1), '\n');
  std::vector<PackEntry> entries;
  std::set<std::string> files, folders;
  int64_t total = 0;
  for (size_t i = 1; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    size_t first = line.find(' '), second = line.find(' ', first + 1), third = line.find(' ', second + 1);
    if (first == std::string_view::npos || second == std::string_view::npos || third == std::string_view::npos)
      return bad("bad manifest line " + std::to_string(i));
    PackEntry entry;
    entry.sha256 = line.substr(0, first);
    auto size = parse_int(line.substr(first + 1, second - first - 1));
    std::string_view mode = line.substr(second + 1, third - second - 1);
    entry.path = line.substr(third + 1);
    entry.executable = mode == "755";
    if (!valid_sha256(entry.sha256) || !size || *size < 0 || (mode != "755" && mode != "644"))
      return bad("bad manifest line " + std::to_string(i));
    if (!safe_relative_path(entry.path)) return bad("unsafe path " + sanitize(entry.path, 200));
    if (*size > caps.file_bytes)
      return bad(sanitize(entry.path, 200) + ": " + format_bytes(*size) + " is over the limit of " +
                 format_bytes(caps.file_bytes));
    entry.size = *size;
    if (*size > caps.total_bytes - total) return bad("over the limit of " + format_bytes(caps.total_bytes) + " in all");
    total += *size;
    if (!files.insert(entry.path).second) return bad("the same path twice: " + sanitize(entry.path, 200));
    for (size_t slash = entry.path.find('/'); slash != std::string::npos; slash = entry.path.find('/', slash + 1))
      folders.insert(entry.path.substr(0, slash));
    entries.push_back(std::move(entry));
  }
  for (const std::string& folder : folders)
    if (files.count(folder) != 0) return bad("both file and folder: " + sanitize(folder, 200));
  return entries;
}

Status write_pack(const std::string& root, const std::vector<std::string>& paths, const ByteSink& sink) {
  BENCHCTL_TRY(auto entries, scan_tree(root, paths));
  BENCHCTL_CHECK(sink(format_manifest(entries) + "\n"));
  for (const PackEntry& entry : entries) {
    struct stat st {};
    BENCHCTL_TRY(UniqueFd fd, open_for_pack(root, entry.path, st));
    BENCHCTL_CHECK(copy_bytes(fd.get(), entry.size, entry.path, sink));
  }
  return {};
}

PackReader::PackReader(std::string folder, PackCaps caps) : folder_(std::move(folder)), caps_(caps) {}

PackReader::~PackReader() {
  if (fd_ >= 0) close(fd_);
  delete hash_;
}

Status PackReader::open_next() {
  while (index_ < entries_.size()) {
    const PackEntry& entry = entries_[index_];
    std::string path = folder_ + "/" + entry.path;
    BENCHCTL_CHECK(make_dirs(path.substr(0, path.rfind('/')), 0755));
    fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, entry.executable ? 0755 : 0644);
    if (fd_ < 0) return errno_error("create " + path);
    // The trial's uid must be able to read it, whatever our umask.
    if (fchmod(fd_, entry.executable ? 0755 : 0644) != 0) return errno_error("chmod " + path);
    hash_ = new Sha256;
    left_ = entry.size;
    if (left_ > 0) return {};
    BENCHCTL_CHECK(close_current());
  }
  return {};
}

Status PackReader::close_current() {
  const PackEntry& entry = entries_[index_];
  std::string found = hash_->hex();
  delete hash_;
  hash_ = nullptr;
  int synced = fsync(fd_);
  int closed = close(fd_);
  fd_ = -1;
  if (synced != 0 || closed != 0) return errno_error("write " + folder_ + "/" + entry.path);
  if (found != entry.sha256) return bad(entry.path + ": sha256 differs from the manifest");
  ++index_;
  return {};
}

Status PackReader::feed(std::string_view bytes) {
  if (failed_) return *failed_;
  auto taken = take(bytes);
  if (!taken) failed_ = taken.error();
  return taken;
}

Status PackReader::take(std::string_view bytes) {
  if (!in_body_) {
    size_t scan_from = header_.empty() ? 0 : header_.size() - 1;
    header_ += bytes;
    size_t end = header_.find("\n\n", scan_from);
    if (end == std::string::npos) {
      if (header_.size() >= kMagic.size() && !std::string_view(header_).starts_with(kMagic))
        return bad("not a pack of version 1");
      // As many lines as there may be files, each of a generous length: a stream without end is held no longer.
      int64_t most = std::min(kHeaderBytes, kLineBytes * (std::min(caps_.files, kHeaderBytes / kLineBytes) + 1));
      if (static_cast<int64_t>(header_.size()) > most) return bad("manifest over " + format_bytes(most));
      return {};
    }
    std::string rest = header_.substr(end + 2);
    header_.resize(end + 1);
    BENCHCTL_TRY(entries_, parse_manifest(header_, caps_));
    header_.clear();
    in_body_ = true;
    BENCHCTL_CHECK(open_next());
    return take(rest);
  }
  while (!bytes.empty()) {
    if (index_ >= entries_.size()) return bad("more bytes than declared");
    std::string_view part =
        bytes.substr(0, static_cast<size_t>(std::min<int64_t>(left_, static_cast<int64_t>(bytes.size()))));
    if (auto written = write_all(fd_, part); !written) return written.error().in(folder_ + "/" + entries_[index_].path);
    hash_->update(part);
    left_ -= static_cast<int64_t>(part.size());
    bytes.remove_prefix(part.size());
    if (left_ > 0) continue;
    BENCHCTL_CHECK(close_current());
    BENCHCTL_CHECK(open_next());
  }
  return {};
}

Status PackReader::done() {
  if (failed_) return *failed_;
  if (!in_body_ || index_ < entries_.size()) return bad("cut short");
  return {};
}

}  // namespace benchctl
