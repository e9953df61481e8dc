#include "controller/cli/build_progress.h"

#include <cstdio>

#include "lib/text.h"

namespace benchctl {
namespace {

constexpr auto kRenew = std::chrono::seconds(1);
constexpr auto kSignOfLife = std::chrono::seconds(30);

}  // namespace

BuildProgress::BuildProgress(Clock& clock, bool terminal, int width)
    : clock_(clock),
      terminal_(terminal),
      width_(static_cast<size_t>(width)),
      begin_(clock.now()),
      since_(begin_),
      ticker_([this] { tick(); }) {}

BuildProgress::~BuildProgress() {
  {
    std::lock_guard lock(mutex_);
    ended_ = true;
    wipe();
  }
  wake_.notify_all();
  ticker_.join();
}

std::string BuildProgress::elapsed(Nanos since) const {
  char text[32];
  std::snprintf(text, sizeof text, "%7.1fs", std::chrono::duration<double>(clock_.now() - since).count());
  return text;
}

void BuildProgress::wipe() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

void BuildProgress::say(const std::string& line) {
  std::lock_guard lock(mutex_);
  wipe();
  std::fprintf(stderr, "%s  %s\n", elapsed(begin_).c_str(), sanitize(line, 4000).c_str());
  std::fflush(stderr);
}

void BuildProgress::now(const std::string& text) {
  std::lock_guard lock(mutex_);
  text_ = sanitize(text, 400);
  since_ = clock_.now();
}

void BuildProgress::tick() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, terminal_ ? Nanos(kRenew) : Nanos(kSignOfLife), [this] { return ended_; })) {
    if (text_.empty()) continue;
    std::string line = elapsed(since_) + "  " + text_;
    if (!terminal_) {
      std::fprintf(stderr, "%s\n", line.c_str());
    } else {
      if (line.size() >= width_) line.resize(width_ - 1);
      wipe();
      std::fputs(line.c_str(), stderr);
      drawn_ = true;
    }
    std::fflush(stderr);
  }
}

}  // namespace benchctl
