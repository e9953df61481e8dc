#include "agent/quiet/journal.h"

#include <unistd.h>

#include <cstdio>

#include "lib/files.h"

namespace benchctl {
namespace {

constexpr int kVersion = 1;

}  // namespace

Result<std::optional<Journal>> Journal::load(const std::string& path) {
  if (!exists(path)) return std::optional<Journal>();
  BENCHCTL_TRY(std::string text, read_file(path, 8 << 20));
  auto json = Json::parse(text, {.bytes = 8 << 20, .depth = 16, .values = 200'000});
  if (!json) return json.error().in(path);
  if ((*json)["version"].as_int() != kVersion)
    return Error{ErrorKind::kInternal, path + ": not a journal of version " + std::to_string(kVersion) +
                                           "; undo it with the benchctl that wrote it"};
  Journal journal(path);
  journal.profile_ = (*json)["profile"].as_string();
  for (const Json& one : (*json)["entries"].as_array())
    journal.entries_.push_back({one["knob"].as_string(), one["target"].as_string(), one["requested"].as_string(),
                                one["text"].as_string(), one["found"]});
  for (const auto& [file, hash] : (*json)["crontabs"].as_object()) journal.crontabs_[file] = hash.as_string();
  return std::optional<Journal>(std::move(journal));
}

Result<Journal> Journal::begin(const std::string& path, const std::string& profile,
                               const std::map<std::string, std::string>& crontabs) {
  BENCHCTL_TRY(auto present, load(path));
  if (present) return *std::move(present);
  Journal journal(path);
  journal.profile_ = profile;
  journal.crontabs_ = crontabs;
  BENCHCTL_CHECK(journal.save());
  return journal;
}

Status Journal::save() const {
  Json json = Json::object();
  json.set("version", kVersion);
  json.set("profile", profile_);
  Json entries = Json::array();
  for (const JournalEntry& entry : entries_) {
    Json one = Json::object();
    one.set("knob", entry.knob);
    one.set("target", entry.target);
    one.set("requested", entry.requested);
    one.set("text", entry.text);
    one.set("found", entry.found);
    entries.push(std::move(one));
  }
  json.set("entries", std::move(entries));
  Json crontabs = Json::object();
  for (const auto& [file, hash] : crontabs_) crontabs.set(file, hash);
  json.set("crontabs", std::move(crontabs));
  return write_atomic(path_, json.dump_pretty() + "\n");
}

Status Journal::note(JournalEntry entry) {
  if (find(entry.knob, entry.target) != nullptr) return {};
  entries_.push_back(std::move(entry));
  return save();
}

const JournalEntry* Journal::find(const std::string& knob, const std::string& target) const {
  for (const JournalEntry& entry : entries_)
    if (entry.knob == knob && entry.target == target) return &entry;
  return nullptr;
}

Status Journal::retire() {
  if (rename(path_.c_str(), (path_ + ".undone").c_str()) != 0) return errno_error("rename " + path_);
  size_t slash = path_.rfind('/');
  return sync_dir(slash == std::string::npos ? "." : path_.substr(0, slash + 1));
}

}  // namespace benchctl
