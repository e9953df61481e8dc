// What a run tells the person who waits. Implementations are thread-safe; texts are sanitised by the caller's side of
// the machine boundary already.
#pragma once

#include <cstdint>
#include <string>

namespace benchctl {

class Progress {
 public:
  virtual ~Progress() = default;
  // Something that happened, kept in the scroll-back: "machine ready after 4.2 s".
  virtual void say(const std::string& who, const std::string& text) = 0;
  // What is going on now; replaces the last one of the same `who` on a terminal. Empty: nothing any more.
  virtual void now(const std::string& who, const std::string& text) = 0;
};

class SilentProgress final : public Progress {
 public:
  void say(const std::string&, const std::string&) override {}
  void now(const std::string&, const std::string&) override {}
};

}  // namespace benchctl
