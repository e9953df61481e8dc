#include "controller/cli/terminal_progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/text.h"

namespace benchctl {
namespace {

size_t columns_of_terminal() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// One row of the terminal, never two, or wiping would leave the others: whole characters only, each counted as wide
// (two columns) that may be so.
std::string cut_to(const std::string& text, size_t columns) {
  size_t used = 0;
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t bytes = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    used += bytes < 3 ? 1 : 2;
    if (used >= columns) return text.substr(0, at);
    at += bytes;
  }
  return text;
}

}  // namespace

TerminalProgress::TerminalProgress(Clock& clock, bool live) : clock_(clock), begin_(clock.now()), live_(live) {}

TerminalProgress::~TerminalProgress() {
  settle();
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
  const size_t columns = columns_of_terminal();
  for (const auto& [who, text] : lines_) {
    std::fprintf(stderr, "%s\n", cut_to(who + "  " + text, columns).c_str());
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
  wipe();
  std::fprintf(stderr, "%s\n", line.c_str());
  if (live_) draw();
}

void TerminalProgress::now(const std::string& who, const std::string& text) {
  if (!live_) return;
  std::lock_guard lock(mutex_);
  wipe();
  if (text.empty()) {
    lines_.erase(who);
  } else {
    lines_[who] = sanitize(text, 4000);
  }
  draw();
}

void TerminalProgress::settle() {
  std::lock_guard lock(mutex_);
  wipe();
  lines_.clear();
  std::fflush(stderr);
}

}  // namespace benchctl
