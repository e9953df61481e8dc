// What was found before each change, on the disk before the change is made: undo puts back exactly that.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/json.h"
#include "lib/result.h"

namespace benchctl {

struct JournalEntry {
  std::string knob;
  std::string target;
  std::string requested;
  std::string text;  // what was found, in words
  Json found;        // what the knob needs to put it back
};

class Journal {
 public:
  // Nothing when there is no such file.
  static Result<std::optional<Journal>> load(const std::string& path);
  // The journal of the first apply when there is one, else a new one that knows these crontabs (path -> sha256).
  static Result<Journal> begin(const std::string& path, const std::string& profile,
                               const std::map<std::string, std::string>& crontabs);

  // Returns once it is on the disk. The first entry of a target stays, whatever is noted later: what a second apply
  // finds is our own doing.
  Status note(JournalEntry entry);
  const JournalEntry* find(const std::string& knob, const std::string& target) const;
  const std::vector<JournalEntry>& entries() const { return entries_; }
  const std::map<std::string, std::string>& crontabs() const { return crontabs_; }
  const std::string& profile() const { return profile_; }
  // Out of the way as PATH.undone: there is nothing left to put back.
  Status retire();

 private:
  explicit Journal(std::string path) : path_(std::move(path)) {}
  Status save() const;

  std::string path_, profile_;
  std::vector<JournalEntry> entries_;
  std::map<std::string, std::string> crontabs_;
};

}  // namespace benchctl
