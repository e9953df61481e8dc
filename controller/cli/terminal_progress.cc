#include "controller/cli/terminal_progress.h"

#include "lib/text.h"

namespace benchctl {

TerminalProgress::TerminalProgress(Clock& clock, bool live, int width, bool quiet)
    : clock_(clock), begin_(clock.now()), live_(live && !quiet), quiet_(quiet), width_(static_cast<size_t>(width)) {}

TerminalProgress::~TerminalProgress() {
  wipe();
  if (log_ != nullptr) std::fclose(log_);
}

void TerminalProgress::log_to(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (log_ != nullptr) std::fclose(log_);
  log_ = std::fopen(path.c_str(), "ae");
}

void TerminalProgress::wipe() {
  if (drawn_ > 0) std::fprintf(stderr, "\x1b[%zuF\x1b[J", drawn_);
  drawn_ = 0;
}

void TerminalProgress::draw() {
  for (const auto& [who, text] : lines_) {
    std::string line = who + "  " + text;
    if (line.size() >= width_) line.resize(width_ - 1);
    std::fprintf(stderr, "%s\n", line.c_str());
    ++drawn_;
  }
  std::fflush(stderr);
}

void TerminalProgress::say(const std::string& who, const std::string& text) {
  std::lock_guard lock(mutex_);
  char elapsed[32];
  std::snprintf(elapsed, sizeof elapsed, "%7.1fs", std::chrono::duration<double>(clock_.now() - begin_).count());
  // Whoever wrote it has sanitised what came from outside; this is the one place that all of it passes.
  std::string line = std::string(elapsed) + "  " + (who.empty() ? "" : who + ": ") + sanitize(text, 4000);
  if (log_ != nullptr) {
    std::fprintf(log_, "%s\n", line.c_str());
    std::fflush(log_);
  }
  if (quiet_) return;
  wipe();
  std::fprintf(stderr, "%s\n", line.c_str());
  if (live_) draw();
}

void TerminalProgress::now(const std::string& who, const std::string& text) {
  if (!live_) return;
  std::lock_guard lock(mutex_);
  wipe();
  lines_[who] = sanitize(text, 4000);
  draw();
}

}  // namespace benchctl
