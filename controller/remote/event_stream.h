// Cuts a hostile byte stream into event lines and puts them in order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lib/result.h"
#include "lib/wire/event.h"

namespace benchctl {

class EventStream {
 public:
  static constexpr size_t kLineCap = 64 << 10;
  // A machine has at most 9,500 trials of about three events each, of well under 1 KiB. The number of an event counts
  // over the whole run, the bytes from one connection to the next.
  static constexpr int64_t kMostEvents = 100'000;
  static constexpr int64_t kMostBytes = 128 << 20;

  // Events below `next` are skipped as repetitions. `on_event` must outlive the stream.
  EventStream(int64_t next, const std::function<Status(const Event&)>& on_event) : next_(next), on_event_(on_event) {}

  // A piece of any size. Errors: a line over the cap, a line that is no event, a gap, an event after run_done,
  // more than the caps (kInternal); whatever on_event returns.
  Status feed(std::string_view bytes);
  // At the end of one command's output: an unfinished line is an error.
  Status end_of_output() const;

  int64_t next() const { return next_; }  // the number wanted next
  bool done() const { return done_; }     // run_done has been delivered

 private:
  Status line(std::string_view text);

  int64_t next_;
  const std::function<Status(const Event&)>& on_event_;
  std::string held_;
  int64_t bytes_ = 0;
  bool done_ = false;
};

}  // namespace benchctl
