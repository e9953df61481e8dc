#include "controller/remote/event_stream.h"

#include "lib/text.h"

namespace benchctl {

Status EventStream::feed(std::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  if (bytes_ > kMostBytes)
    return Error{ErrorKind::kInternal, "events: more than " + format_bytes(kMostBytes) + " of them"};
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    held_ += bytes.substr(0, end);
    if (held_.size() > kLineCap) return Error{ErrorKind::kInternal, "events: a line over " + format_bytes(kLineCap)};
    if (end == std::string_view::npos) return {};
    bytes.remove_prefix(end + 1);
    std::string text = std::move(held_);
    held_.clear();
    BENCHCTL_CHECK(line(text));
  }
  return {};
}

Status EventStream::line(std::string_view text) {
  auto event = parse_event(text);
  if (!event) return Error{event.error().kind, sanitize(event.error().message, 500) + " in " + sanitize(text, 200)};
  if (event->number < next_) return {};
  if (done_) return Error{ErrorKind::kInternal, "events: event " + std::to_string(event->number) + " after run_done"};
  if (event->number > next_)
    return Error{ErrorKind::kInternal, "events: event " + std::to_string(next_) + " is missing, after it came " +
                                           std::to_string(event->number)};
  if (next_ > kMostEvents)
    return Error{ErrorKind::kInternal, "events: more than " + std::to_string(kMostEvents) + " of them"};
  // Counted before it is delivered: whatever on_event does, it does not get the same event twice.
  ++next_;
  done_ = event->kind == "run_done";
  return on_event_(*event);
}

Status EventStream::end_of_output() const {
  if (held_.empty()) return {};
  return Error{ErrorKind::kInternal, "events: cut in mid-line: " + sanitize(held_, 200)};
}

}  // namespace benchctl
