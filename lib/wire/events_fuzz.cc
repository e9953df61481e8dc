// Any bytes as a line of events.jsonl: refused, or an event that survives being written.
#include <cstdint>
#include <cstdlib>

#include "lib/wire/event.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace benchctl;
  auto event = parse_event({reinterpret_cast<const char*>(data), size});
  if (!event) {
    if (event.error().message.empty()) std::abort();
    return 0;
  }
  if (event->number < 1 || event->kind.empty()) std::abort();
  std::string line = event_line(*event);
  if (line.find('\n') != line.size() - 1) std::abort();
  if (line.size() > 60'000) return 0;  // escapes may lengthen it past the cap of a line
  auto again = parse_event(line);
  if (!again || event_line(*again) != line) std::abort();
  return 0;
}
