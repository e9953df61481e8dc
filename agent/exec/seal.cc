#include "agent/exec/seal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "agent/exec/append_file.h"
#include "lib/files.h"
#include "lib/sha256.h"
#include "lib/text.h"

namespace benchctl {
namespace {

// Names at the top of D that are tools of the agent, not results.
const std::set<std::string> kNotResults = {"trials",        "sealed",   "acks",         "MANIFEST.sha256",
                                           "run.done",      "run.lock", "append.lock",  "follow.lock",
                                           "rounds.closed", "stop",     "current.json", Ballast::kName};

Result<SealedUnit> write_seal(const RunFolder& folder, const std::string& unit, std::vector<PackEntry> entries) {
  std::sort(entries.begin(), entries.end(), [](const PackEntry& a, const PackEntry& b) { return a.path < b.path; });
  SealedUnit sealed;
  sealed.unit = unit;
  std::string text = format_manifest(entries);
  sealed.manifest_sha256 = sha256_hex(text);
  sealed.files = static_cast<int64_t>(entries.size());
  for (const PackEntry& entry : entries) sealed.bytes += entry.size;
  if (syncfs(folder.fd()) != 0) return errno_error("syncfs " + folder.path());
  BENCHCTL_CHECK(make_dirs(folder.file("sealed")));
  BENCHCTL_CHECK(write_atomic(folder.file("sealed/" + unit + ".manifest"), text));
  return sealed;
}

Result<std::vector<PackEntry>> scan_below(const RunFolder& folder, const std::string& below) {
  std::vector<PackEntry> entries;
  if (!exists(folder.file(below))) return entries;
  BENCHCTL_TRY(entries, scan_tree(folder.file(below), {}));
  for (PackEntry& entry : entries) entry.path = below + "/" + entry.path;
  return entries;
}

Result<std::vector<PackEntry>> scan_results(const RunFolder& folder) {
  BENCHCTL_TRY(auto names, list_dir(folder.path()));
  std::vector<PackEntry> entries;
  for (const std::string& name : names) {
    struct stat st {};
    if (kNotResults.count(name) != 0 || name.find(".tmp-") != std::string::npos) continue;
    if (fstatat(folder.fd(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(st.st_mode)) {
      BENCHCTL_TRY(auto below, scan_below(folder, name));
      entries.insert(entries.end(), below.begin(), below.end());
    } else if (S_ISREG(st.st_mode)) {
      BENCHCTL_TRY(auto one, scan_tree(folder.path(), {name}));
      entries.insert(entries.end(), one.begin(), one.end());
    }
  }
  return entries;
}

Status send_file(const RunFolder& folder, const PackEntry& entry, const ByteSink& sink) {
  UniqueFd fd(open(folder.file(entry.path).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return errno_error("open " + folder.file(entry.path));
  char buffer[65536];
  for (int64_t left = entry.size; left > 0;) {
    ssize_t count = read(fd.get(), buffer, static_cast<size_t>(std::min<int64_t>(left, sizeof buffer)));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno_error("read " + folder.file(entry.path));
    if (count == 0) return Error{ErrorKind::kInternal, folder.file(entry.path) + ": shorter than when it was sealed"};
    BENCHCTL_CHECK(sink({buffer, static_cast<size_t>(count)}));
    left -= count;
  }
  return {};
}

}  // namespace

void SealedUnit::describe(Json& fields) const {
  fields.set("unit", unit);
  fields.set("manifest_sha256", manifest_sha256);
  fields.set("files", files);
  fields.set("bytes", bytes);
}

Result<SealedUnit> seal_round(const RunFolder& folder, const std::string& unit,
                              const std::vector<std::pair<int64_t, int>>& trials) {
  std::vector<PackEntry> entries;
  for (const auto& [trial, attempt] : trials) {
    BENCHCTL_TRY(auto found, scan_below(folder, trial_path(trial, attempt)));
    entries.insert(entries.end(), found.begin(), found.end());
  }
  return write_seal(folder, unit, std::move(entries));
}

Result<SealedUnit> seal_final(const RunFolder& folder) {
  BENCHCTL_TRY(auto results, scan_results(folder));
  BENCHCTL_TRY(auto all, scan_below(folder, "trials"));
  all.insert(all.end(), results.begin(), results.end());
  std::sort(all.begin(), all.end(), [](const PackEntry& a, const PackEntry& b) { return a.path < b.path; });
  BENCHCTL_CHECK(write_atomic(folder.file("MANIFEST.sha256"), format_manifest(all)));
  BENCHCTL_TRY(auto manifest, scan_tree(folder.path(), {"MANIFEST.sha256"}));
  results.push_back(manifest[0]);
  return write_seal(folder, "final", std::move(results));
}

Status write_unit(const RunFolder& folder, const std::string& unit, const ByteSink& sink) {
  if (!safe_relative_path(unit) || unit.find('/') != std::string::npos)
    return Error{ErrorKind::kUsage, "\"" + sanitize(unit, 100) + "\" is no unit"};
  std::string path = folder.file("sealed/" + unit + ".manifest");
  if (!exists(path)) return Error{ErrorKind::kRegression, unit + " is not sealed yet"};
  BENCHCTL_TRY(std::string text, read_file(path));
  BENCHCTL_TRY(auto entries, parse_manifest(text, PackCaps{.files = 1'000'000, .total_bytes = int64_t{1} << 40}));
  BENCHCTL_CHECK(sink(text + "\n"));
  for (const PackEntry& entry : entries) BENCHCTL_CHECK(send_file(folder, entry, sink));
  return {};
}

}  // namespace benchctl
