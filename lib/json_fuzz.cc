// Any bytes as JSON: refused, or a value that is the same after being written and read again.
#include <cstdint>
#include <cstdlib>

#include "lib/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using benchctl::Json;
  auto json =
      Json::parse({reinterpret_cast<const char*>(data), size}, {.bytes = 1 << 20, .depth = 32, .values = 10'000});
  if (!json) {
    if (json.error().message.empty()) std::abort();
    return 0;
  }
  std::string text = json->dump();
  auto again = Json::parse(text);
  if (!again || again->dump() != text) std::abort();
  auto pretty = Json::parse(json->dump_pretty());
  if (!pretty || pretty->dump() != text) std::abort();
  return 0;
}
